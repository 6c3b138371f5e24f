"""Models as files: one safetensors file of arrays, with everything else as JSON in its header. Never pickle.

A file says which format it has, which version wrote it, the learner's name and parameters, features, labels, the state
of its generator, and a checksum. Reading it runs no code of the file's choosing: the learner is looked up by name among
those of this package, its arrays are checked before compiled code sees them, and whatever does not fit is refused with
a sentence.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import safetensors
import safetensors.numpy
from sklearn.base import BaseEstimator

from lopsided.core.measures.share_above import FURTHEST, furthest_up
from lopsided.encoding.schema import Schema
from lopsided.estimators import registry
from lopsided.estimators.base.recent_rows import RecentRows
from lopsided.estimators.base.score_memory import LATEST_RING, NEGATIVE_RING, POSITIVE_RING, ScoreMemory
from lopsided.estimators.state.arrays import ModelFileError, in_range, is_sound, taken
from lopsided.estimators.state.replacing import replace_file
from lopsided.kernels import Kernel, kernel_from_json
from lopsided.labels import LabelMap
from lopsided.version import __version__

FORMAT = 1
_KEY = "lopsided"
_ATTACHED = "attached"

Arrays = dict[str, npt.NDArray[Any]]


class Attachment(NamedTuple):
    """Something that is kept beside a model in its file, such as the position of a reader: JSON, and arrays."""

    description: dict[str, Any]
    arrays: Arrays


def save_model(model: Any, path: str | Path, attached: Mapping[str, Attachment] | None = None) -> None:
    """Write a model, all of it or nothing: a crash leaves the old file as it was.

    The new file is read back before it takes the place of an old one. A link stays a link; what is not a file, such as
    a pipe, is written into.
    """
    replace_file(path, to_bytes(model, attached), check=from_bytes)


def load(path: str | Path) -> Any:
    """Read a model that `save` wrote. Continuing to learn equals never having stopped."""
    return from_bytes(_content(path), source=str(path))


def load_attached(path: str | Path) -> tuple[Any, dict[str, Attachment]]:
    """A model and what is kept beside it in its file."""
    return from_bytes_attached(_content(path), str(path))


def from_bytes_attached(content: bytes, source: str = "bytes") -> tuple[Any, dict[str, Attachment]]:
    """The same, of a file's content."""
    document, arrays = _opened(content, source)
    return _model_of(document, arrays, source), _attachments_of(document, arrays)


def _content(path: str | Path) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise ModelFileError(f"The model file {str(path)!r} must be readable. Got: {error.strerror}.") from None


def to_bytes(model: Any, attached: Mapping[str, Attachment] | None = None) -> bytes:
    """The content of a model file; the same model gives the same bytes."""
    arrays, description = packed(model)
    document: dict[str, Any] = {"format": FORMAT, "version": __version__, "model": description}
    for name, (words, more) in (attached or {}).items():
        document.setdefault("attached", {})[name] = words
        arrays |= {f"{_ATTACHED}/{name}/{key}": array for key, array in more.items()}
    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    for name, array in arrays.items():
        if not name.startswith(_ATTACHED) and not is_sound(name, array):
            raise ModelFileError(f"The array {name!r} of a model to save must be finite. Got one that is not.")
    document["checksum"] = checksum(document, arrays)
    return safetensors.numpy.save(arrays, metadata={_KEY: json.dumps(document, sort_keys=True)})


def from_bytes(content: bytes, source: str = "bytes") -> Any:
    """The model of a file's content, as `to_bytes` gives it."""
    document, arrays = _opened(content, source)
    return _model_of(document, arrays, source)


def _opened(content: bytes, source: str) -> tuple[dict[str, Any], Arrays]:
    """What a file says and holds, if it is whole."""
    try:
        length = int.from_bytes(content[:8], "little")
        document = json.loads(json.loads(content[8 : 8 + length])["__metadata__"][_KEY])
        version = document["format"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ModelFileError(
            f"The file {source!r} must be a model written by lopsided's save. Got something else, or a part of one."
        ) from None
    if version != FORMAT:
        raise ModelFileError(
            f"The model file {source!r} must have format {FORMAT}. Got format {version!r}, written by lopsided "
            f"{document.get('version')!r}: read it with that version or a newer one."
        )
    try:
        arrays = safetensors.numpy.load(content)
    except (safetensors.SafetensorError, ValueError, KeyError) as error:
        raise ModelFileError(f"The model file {source!r} must be whole. Got a damaged one: {error}.") from None
    if document.pop("checksum", None) != checksum(document, arrays):
        raise ModelFileError(
            f"The model file {source!r} must match its checksum. Got another: it was changed or damaged."
        )
    return document, arrays


def _model_of(document: dict[str, Any], arrays: Arrays, source: str) -> Any:
    try:
        return unpacked(document["model"], arrays)
    except ModelFileError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, MemoryError, OverflowError) as error:
        raise ModelFileError(
            f"The model file {source!r} must describe a model of lopsided. Got one that does not fit: {error}."
        ) from None


def _attachments_of(document: dict[str, Any], arrays: Arrays) -> dict[str, Attachment]:
    attached = {}
    for name, description in document.get("attached", {}).items():
        prefix = f"{_ATTACHED}/{name}/"
        own = {key.removeprefix(prefix): array for key, array in arrays.items() if key.startswith(prefix)}
        attached[name] = Attachment(description, own)
    return attached


def checksum(document: dict[str, Any], arrays: Arrays) -> str:
    """SHA-256 of everything in a file but itself: it finds accidents, not a forger."""
    digest = hashlib.sha256(json.dumps(document, sort_keys=True).encode())
    for name in sorted(arrays):
        digest.update(f"{name}|{arrays[name].dtype.str}|{arrays[name].shape}".encode())
        digest.update(np.ascontiguousarray(arrays[name]).data if arrays[name].size else b"")
    return digest.hexdigest()


def packed(model: Any) -> tuple[Arrays, dict[str, Any]]:
    """Arrays and description of a model at one moment: copies, taken while nobody else may touch it."""
    with model._alone:
        return _packed(model)


def _packed(model: Any) -> tuple[Arrays, dict[str, Any]]:
    model._check_started()
    arrays = {name: np.array(array, order="C") for name, array in model._arrays().items()}
    description: dict[str, Any] = {
        "learner": _registered_name(model),
        "parameters": {name: _to_json(value, name) for name, value in _parameters_of(model).items()},
        "n_features": model.n_features_in_,
        "feature_names": model.feature_names_in_.tolist() if hasattr(model, "feature_names_in_") else None,
    }
    if words := model._kept_words() if hasattr(model, "_kept_words") else {}:
        description["words"] = {name: _to_json(value, name) for name, value in words.items()}
    if hasattr(model, "_labels"):
        labels = model._labels
        description["labels"] = {
            "classes": labels.classes.tolist(),
            "dtype": labels.classes.dtype.str,
            "settled": labels.settled,
            "positive": labels.positive_index,
        }
    if hasattr(model, "_uniforms"):
        arrays["uniforms"], description["generator"] = model._uniforms.future()
    if hasattr(model, "_memory"):
        memory = model._memory
        arrays |= {
            "memory.positive": memory.positive.copy(),
            "memory.negative": memory.negative.copy(),
            "memory.latest": memory.latest.copy(),
            "memory.n_latest": np.array([memory.n_latest], dtype=np.int64),
            "memory.counts": memory.counts.copy(),
            "memory.seen": np.array(memory.seen, dtype=np.int64),
        }
        if memory.following is not None:
            arrays["memory.following"] = memory.following
        arrays |= model._recent.state()
    for number, part in enumerate(model._parts() if hasattr(model, "_parts") else []):
        part_arrays, part_description = packed(part)
        arrays |= {f"part{number}/{name}": array for name, array in part_arrays.items()}
        description.setdefault("parts", []).append(part_description)
    return arrays, description


def _parameters_of(model: Any) -> dict[str, Any]:
    """Those that a learner began with; a scaler has no others than its own."""
    return model._kept_parameters() if hasattr(model, "_kept_parameters") else model.get_params(deep=False)


def unpacked(description: dict[str, Any], arrays: Arrays) -> Any:
    """The model of such arrays and description."""
    model = _estimator_from_json({"name": description["learner"], "parameters": description["parameters"]})
    model._check_parameters()
    model.n_features_in_ = int(description["n_features"])
    in_range("n_features", model.n_features_in_, 1, 2**31 - 1)
    if description["feature_names"] is not None:
        model.feature_names_in_ = np.array([str(name) for name in description["feature_names"]], dtype=object)
    if hasattr(model, "_take_words"):
        model._take_words({name: _from_json(value) for name, value in description.get("words", {}).items()})
    if "labels" in description:
        model._begin(_restored_labels(description["labels"], model.pos_label))
    if "generator" in description:
        _restore_common(model, arrays, description["generator"])
    if description.get("parts"):
        model._restore_parts(_restored_parts(model, description["parts"], arrays))
    model._restore(arrays)
    return model


def _restored_parts(model: Any, descriptions: list[dict[str, Any]], arrays: Arrays) -> list[Any]:
    """The learners that a model is made of, if they are the ones that its parameters ask for."""
    parts = []
    for number, (description, expected) in enumerate(zip(descriptions, model._parts(), strict=True)):
        prefix = f"part{number}/"
        own = {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
        part = unpacked(description, own)
        if str(part) != str(expected) or part.n_features_in_ != expected.n_features_in_:
            raise ModelFileError(
                f"Part {number} of the model file must be {expected}. Got {part}: the file is damaged."
            )
        parts.append(part)
    return parts


def _restored_labels(known: dict[str, Any], pos_label: Any) -> LabelMap:
    classes = np.array(known["classes"], dtype=np.dtype(known["dtype"]))
    if classes.dtype.kind not in "biufU" or classes.shape != (2,) or not classes[0] < classes[1]:
        raise ModelFileError(
            f"The labels of the model file must be two numbers or words in order. Got {known}: the file is damaged."
        )
    if known.get("positive", 1) != 1:  # which a stream may have said, and not the parameter
        pos_label = classes.tolist()[int(known["positive"])]
    return LabelMap(classes, pos_label, settled=bool(known["settled"]))


def _restore_common(model: Any, arrays: Arrays, generator: dict[str, Any]) -> None:
    uniforms = taken(arrays, "uniforms", np.float64, (None,))
    if ((uniforms < 0) | (uniforms >= 1)).any():
        raise ModelFileError(
            "The array 'uniforms' of the model file must lie in [0, 1). Got others: the file is damaged."
        )
    model._uniforms.restore(uniforms, generator)
    model._memory.positive = taken(arrays, "memory.positive", np.float64, (POSITIVE_RING,))
    model._memory.negative = taken(arrays, "memory.negative", np.float64, (NEGATIVE_RING,))
    model._memory.counts = taken(arrays, "memory.counts", np.int64, (2,))
    in_range("memory.counts", model._memory.counts, 0, 2**62)
    seen = taken(arrays, "memory.seen", np.int64, (2,), formerly="memory.counts")
    in_range("memory.seen", seen, 0, 2**62)
    model._memory.seen = seen.tolist()
    if sum(model._memory.seen):  # whoever saved it has been told, or had no reason to be
        model._may_be_wrong_way_round = False
    if "memory.latest" in arrays:  # files of old have neither this nor rows
        model._memory.latest = taken(arrays, "memory.latest", np.float64, (LATEST_RING,))
        n_latest = taken(arrays, "memory.n_latest", np.int64, (1,))
        in_range("memory.n_latest", n_latest, 0, 2**62)
        model._memory.n_latest = int(n_latest[0])
    if model._memory.share is not None:
        _restore_following(model._memory, arrays)
    if "recent.rows" in arrays and model._recent.is_on:  # some older files have rows that no rule needs
        _restore_recent(model, arrays)


def _restore_following(memory: ScoreMemory, arrays: Arrays) -> None:
    """The cut that follows the scores, where it stood; files of old have none, and it sets out anew."""
    correction = owed = 0.0
    if "memory.following" in arrays:
        assert memory.share is not None
        n_levels = 2 if arrays["memory.following"].shape == (2,) else 3  # older files owe nothing to ties
        following = taken(arrays, "memory.following", np.float64, (n_levels,))
        in_range("memory.following", following, -FURTHEST, max(FURTHEST, furthest_up(memory.share)) + 1e-9)
        if following[0] == memory.share:
            correction, owed = following[1].item(), following[2:].sum().item()
    memory.follow(memory.share, correction, owed)


def _restore_recent(model: Any, arrays: Arrays) -> None:
    offered = taken(arrays, "recent.offered", np.int64, (1,))
    in_range("recent.offered", offered, 0, 2**62)
    recent = RecentRows(model.n_features_in_)
    recent.offered = int(offered[0])
    n_rows = min(recent.kept, recent.capacity)
    rows = taken(arrays, "recent.rows", np.int64, (n_rows, model.n_features_in_))
    signs = np.zeros(n_rows)
    if "recent.signs" in arrays:  # files of old have none
        signs = taken(arrays, "recent.signs", np.float64, (n_rows,))
        in_range("recent.signs", signs, -1, 1)
    model._recent.restore(rows, signs, recent.offered)


def _to_json(value: Any, name: str) -> Any:
    if isinstance(value, Kernel):
        return {"kernel": value.to_json()}
    if isinstance(value, Schema):
        return {"schema": value.to_json()}
    if isinstance(value, list | tuple):
        return {"tuple" if isinstance(value, tuple) else "list": [_to_json(part, name) for part in value]}
    if isinstance(value, BaseEstimator):
        parameters = {key: _to_json(part, key) for key, part in value.get_params(deep=False).items()}
        return {"estimator": {"name": _registered_name(value), "parameters": parameters}}
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if name == "random_state":
        return None  # a generator, whose state is saved apart
    raise ModelFileError(
        f"The parameter '{name}' must be a number, a word, a kernel, a learner or a list to be saved. Got {value!r}."
    )


def _from_json(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if "kernel" in value:
        return kernel_from_json(value["kernel"])
    if "schema" in value:
        return Schema.from_json(value["schema"])
    if "estimator" in value:
        return _estimator_from_json(value["estimator"])
    parts = [_from_json(part) for part in (value["tuple"] if "tuple" in value else value["list"])]
    return tuple(parts) if "tuple" in value else parts


def _registered_name(model: Any) -> str:
    """The name by which a class is found again; a class that nobody registered would not be."""
    kind = type(model)
    if registry.entry_of(kind) is None:
        raise ModelFileError(
            f"The class of a model to save must be known by its name: call lopsided.register({kind.__name__}) where it "
            f"is defined. Got {kind.__module__}.{kind.__qualname__}, which is not registered."
        )
    return kind.__name__


def _estimator_from_json(description: dict[str, Any]) -> Any:
    """A learner that is registered, looked up by name and not yet started."""
    name = description["name"]
    entry = registry.entry(name) if isinstance(name, str) else None
    if entry is None:
        raise ModelFileError(
            f"A model file must hold a learner of lopsided ({', '.join(registry.names())}) or one that this program "
            f"has registered. Got {name!r}: import the module that defines it, which must call lopsided.register."
        )
    return entry.kind(**{key: _from_json(value) for key, value in description["parameters"].items()})
