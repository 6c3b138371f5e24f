"""The drift alarm once more: all rows are kept, stretches are cut out of them, and steps fitted by least squares."""

import numpy as np
from scipy import stats


class NaiveDriftAlarm:
    """Series of numbers and shares; blocks of 256 rows, or days."""

    def __init__(self, n_numbers, n_shares, *, by_day=False, trends=False, false_alarms=0.1):
        self.n_numbers, self.n = n_numbers, n_numbers + n_shares
        self.by_day = by_day
        self.cuts = [[1, 2, 4, 8, 16, 32] if trends or s >= n_numbers else [1, 2] for s in range(self.n)]
        self.limit = false_alarms / ((1000 if by_day else 1e6 / 256) * 2 * sum(map(len, self.cuts)) * 9)
        self.all_rows, self.present, self.blocks = [], [], []
        self.edges = None
        self.starts = [0] * self.n
        self.day = None
        self.alarms = []  # series, edge (NaN: missing), row, first row of the new stretch, before, after, p

    def update(self, values, time=0.0):
        day = int(time // 86400)
        if self.by_day:
            if self.day is not None and day > self.day:
                self.end()
            self.day = day if self.day is None else max(self.day, day)
        self.all_rows.append(values)
        self.present.append(values)
        if not self.by_day and len(self.present) == 256:
            self.end()

    def end(self):
        rows, self.present = self.present, []
        if self.edges is None:
            if len(self.all_rows) >= 64:
                self.edges = [self.edges_of(s) for s in range(self.n)]
            return
        counted = [self.counted(s, np.array([row[s] for row in rows])) for s in range(self.n)]
        self.blocks.append((len(self.all_rows) - len(rows), self.day, counted))
        for s in range(self.n):
            self.test(s)

    def edges_of(self, s):
        if s >= self.n_numbers:
            return [0.5]
        known = sorted(row[s] for row in self.all_rows[-512:] if row[s] == row[s])
        if not known:
            return []
        found = sorted({known[int(np.floor((len(known) - 1) * k / 8))] for k in range(1, 8)})
        return sorted({np.nextafter(known[0], -np.inf), *found}) if len(found) < 7 else found

    def counted(self, s, values):
        """For each edge the values above it and all that are known; those missing and all."""
        missing = int(np.isnan(values).sum()) if s < self.n_numbers else 0
        known = values[~np.isnan(values)]
        cells = [((known > edge).sum(), known.size) for edge in self.edges[s]]
        return np.array([*cells, (missing, known.size + missing)], dtype=float)

    def test(self, s):
        best, n_blocks = None, len(self.blocks)
        for level in range(20):
            length = 2**level
            if n_blocks % length:
                break
            kept = [(b, self.blocks[b : b + length]) for b in range(0, n_blocks, length)][-64:]
            for cut in self.cuts[s]:
                for cell in range(len(self.edges[s]) + 1):
                    found = self.step(s, cell, kept, cut, level)
                    if found is not None and found[-1] < self.limit and (best is None or found[-1] < best[-1]):
                        best = found
        if best is not None:
            self.alarms.append(best)
            self.starts[s] = n_blocks
            self.edges[s] = self.edges_of(s)

    def step(self, s, cell, kept, cut, level):
        data = []
        for k, (begin, blocks) in enumerate(kept):
            if begin >= self.starts[s]:
                inside, total = sum(block[2][s][cell] for block in blocks)
                if total:
                    phase = blocks[0][1] % 7 if self.by_day and 2**level < 7 else 0
                    data.append((k >= len(kept) - cut, phase, inside, total))
        new = [one for one in data if one[0]]
        if len(new) < cut or len(data) - len(new) < max(cut, 14):
            return None
        z, phase, inside, total = (np.array(part, dtype=float) for part in zip(*data, strict=True))
        dummies = (phase[:, None] == np.unique(phase)).astype(float)
        design = np.column_stack([dummies, z]) * np.sqrt(total)[:, None]
        if np.linalg.matrix_rank(design) < design.shape[1]:
            return None
        target = inside / total * np.sqrt(total)
        beta = np.linalg.lstsq(design, target, rcond=None)[0]
        dof = len(data) - design.shape[1]
        share = inside.sum() / total.sum()
        spread = max(((target - design @ beta) ** 2).sum() / dof, share * (1 - share))
        surplus = total[z > 0].sum() * abs(beta[-1])
        if share in (0.0, 1.0) or surplus * share * (1 - share) < 20 * spread:
            return None
        error = np.sqrt(spread * np.linalg.inv(design.T @ design)[-1, -1])
        p = 2 * stats.t.sf(abs(beta[-1]) / error, dof)
        after = inside[z > 0].sum() / total[z > 0].sum()
        edge = self.edges[s][cell] if cell < len(self.edges[s]) else np.nan
        row = kept[-cut][1][0][0]
        return s, edge, len(self.all_rows), row, min(max(after - beta[-1], 0.0), 1.0), after, p
