"""All models of a data directory, which belongs to one process at a time."""

from __future__ import annotations

import fcntl
import logging
import os
import re
import threading
import time
from pathlib import Path

from lopsided.constraints import ParameterError
from lopsided.serve.clock import Clock, steady_clock
from lopsided.serve.configuration import Limits, checked
from lopsided.serve.messages import ModelSettings
from lopsided.serve.opening import NotMadeError, log_path, make_model
from lopsided.serve.running import RunningModel, UnavailableError
from lopsided.serve.storage.disk import Disk, RealDisk

_LOG = logging.getLogger("lopsided.serve")
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_BETWEEN_OPENINGS = 1.0  # seconds, of a model whose disk failed
_MOST_MODELS = 100


class UnknownModelError(Exception):
    """There is no model of this name."""


class ExistsError(Exception):
    """There is a model of this name, made in another way."""


class TakenError(Exception):
    """Another process has the data directory."""


class House:
    """Opens what is there, makes what is new, and closes all of it."""

    def __init__(
        self, folder: Path, *, disk: Disk | None = None, clock: Clock | None = None, limits: Limits | None = None
    ) -> None:
        self.folder, self._disk, self._clock = folder, disk or RealDisk(), clock or steady_clock()
        self._limits = limits or Limits()
        self._disk.make_folder(folder / "models")
        self._lock = _locked(folder)
        self._models: dict[str, RunningModel] = {}
        self._opened: dict[str, float] = {}
        self._broken: dict[str, str] = {}  # why a model could not be opened
        self._changing = threading.Lock()
        self._reopening: dict[str, threading.Thread] = {}
        self.is_ready = False

    def open(self) -> None:
        """Open all models: what was acknowledged is there again."""
        for path in sorted((self.folder / "models").iterdir()):
            if log_path(path).exists() and _NAME.fullmatch(path.name):
                try:
                    self._open(path.name)
                except NotMadeError:
                    _LOG.warning("Model %s was never acknowledged: it can be made again", path.name)
                except Exception as error:  # the others must not suffer from it
                    _LOG.exception("Model %s cannot be opened", path.name)
                    self._broken[path.name] = str(error)
        self.is_ready = True

    def _open(self, name: str) -> RunningModel:
        began = time.monotonic()
        self._opened[name] = began
        model = RunningModel(name, self._path(name), self._disk, self._clock, self._limits)
        self._models[name] = model
        _LOG.info("Model %s: %d entries, opened in %.1f s", name, model.written, time.monotonic() - began)
        return model

    def _path(self, name: str) -> Path:
        return self.folder / "models" / name

    def now(self) -> float:
        """What time it is for this house."""
        return self._clock()

    @property
    def names(self) -> list[str]:
        """All models."""
        return sorted(self._models)

    @property
    def broken(self) -> list[str]:
        """Models that could not be opened."""
        return sorted(self._broken)

    def model(self, name: str) -> RunningModel:
        """A model by its name; one whose disk failed is opened again, by a thread of its own: that may take long."""
        model = self._models.get(name)
        if model is None and name in self._broken:
            raise UnavailableError(f"The model {name!r} must be readable. Got: {self._broken[name]}")
        if model is None:
            known = ", ".join(self.names) or "none"
            raise UnknownModelError(f"The model must be one of: {known}. Got {name[:80]!r}.")
        if model.failure is not None and time.monotonic() - self._opened[name] > _BETWEEN_OPENINGS:
            with self._changing:
                thread = self._reopening.get(name)
                if self._models[name] is model and (thread is None or not thread.is_alive()):
                    self._reopening[name] = threading.Thread(target=self._reopen, args=(name, model), daemon=True)
                    self._reopening[name].start()
        return self._models[name]

    def _reopen(self, name: str, model: RunningModel) -> None:
        self._opened[name] = time.monotonic()
        try:
            model.close(save=False)
            self._open(name)
        except Exception as error:  # it is tried again as soon as somebody asks
            _LOG.warning("Model %s cannot be opened: %s", name, error)
        finally:
            self._opened[name] = time.monotonic()

    def make(self, name: str, settings: ModelSettings) -> bool:
        """Make a model; False if there is one that was made just so."""
        if not _NAME.fullmatch(name):
            raise ParameterError(
                "The name of a model must be 1 to 64 lower-case letters, digits, - and _, beginning with a letter or a "
                f"digit. Got {name[:80]!r}."
            )
        with self._changing:
            known = self._models.get(name)
            if known is not None:
                if known.made_with != settings:
                    raise ExistsError(f"The model {name!r} must be made as it was, or under another name.")
                return False
            if name in self._broken:
                raise UnavailableError(f"The model {name!r} must be readable. Got: {self._broken[name]}")
            if len(self._models) >= _MOST_MODELS:
                raise ParameterError(f"A service must have at most {_MOST_MODELS} models. Got one more.")
            make_model(self._path(name), self._disk, checked(settings), self._clock())
            self._open(name)
            return True

    def close(self) -> None:
        """Save all models and give the directory back."""
        for thread in self._reopening.values():
            thread.join()
        for model in self._models.values():
            model.close()
        os.close(self._lock)


def _locked(folder: Path) -> int:
    handle = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        raise TakenError(
            f"The data directory {str(folder)!r} must be free. Got one that another lopsided serve is using."
        ) from None
    return handle
