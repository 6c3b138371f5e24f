"""Models in MLflow: logged, loaded to go on learning, and served by whatever serves a pyfunc.

The artifact is the file that `model.save` writes, arrays and JSON: nothing is pickled. Needs mlflow, or mlflow-skinny,
which has no server and no database.

>>> import mlflow, tempfile, lopsided as lp, lopsided.adapters.mlflow as lopsided_mlflow
>>> model = lp.KOIL(random_state=0).partial_fit([[0.0], [1.0]], ["bad", "good"])
>>> with tempfile.TemporaryDirectory() as folder:
...     lopsided_mlflow.save_model(model, f"{folder}/saved")
...     server, learner = mlflow.pyfunc.load_model(f"{folder}/saved"), lopsided_mlflow.load_model(f"{folder}/saved")
>>> server.predict([[0.9]])["decision"].tolist()
['good']
>>> learner.learn_one([0.2], "bad").n_seen_
3
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from lopsided.constraints import ParameterError
from lopsided.estimators.base.classifier import Classifier
from lopsided.estimators.state.files import load
from lopsided.version import __version__

try:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # MLflow warns of type hints of its own
        import mlflow.artifacts
        import mlflow.pyfunc
        from mlflow.models import Model, ModelSignature, infer_signature
        from mlflow.types import ColSpec, Schema
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        'Models for MLflow must have its package, which `pip install "lopsided[mlflow]"` brings, '
        f"got no package {error.name}.",
        name=error.name,
    ) from None

FLAVOR = "lopsided"
_FILE = "model.lopsided"

__all__ = ["FLAVOR", "PyfuncModel", "load_model", "log_model", "save_model"]


def save_model(
    model: Any,
    path: str | Path,
    mlflow_model: Model | None = None,
    signature: ModelSignature | None = None,
    input_example: Any = None,
    pip_requirements: list[str] | None = None,
    metadata: dict[str, Any] | None = None,
) -> None:
    """Write a model into a new folder, as MLflow wants it.

    Parameters
    ----------
    model : a learner or pipeline of lopsided that has learned something
    path : the folder; it must not exist, or be empty
    mlflow_model : what MLflow knows of it so far; `log_model` gives it
    signature : columns that go in and come out; None: as `input_example` shows, if there is one
    input_example : a few rows as `predict` will get them, such as the head of a data frame
    pip_requirements : what to install for serving; None: this version of lopsided; MLflow adds itself
    metadata : of your own, for the file MLmodel.
    """
    if not isinstance(model, Classifier):
        raise ParameterError(f"The model to save for MLflow must be a learner of lopsided. Got {model!r}.")
    mlflow_model = Model() if mlflow_model is None else mlflow_model
    if signature is None and input_example is not None:
        signature = ModelSignature(inputs=infer_signature(input_example).inputs, outputs=_outputs(model))
    learner = type(model.final_learner).__name__
    mlflow_model.add_flavor(FLAVOR, lopsided_version=__version__, data=f"data/{_FILE}", learner=learner)
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / _FILE)
        mlflow.pyfunc.save_model(
            path=str(path),
            loader_module=__name__,
            data_path=str(Path(folder) / _FILE),
            mlflow_model=mlflow_model,
            signature=signature,
            input_example=input_example,
            pip_requirements=pip_requirements or [f"lopsided=={__version__}"],
            metadata=metadata,
        )


def _outputs(model: Any) -> Schema:
    """The columns that `PyfuncModel.predict` answers."""
    kinds = {"b": "boolean", "i": "long", "u": "long", "f": "double", "U": "string"}
    columns = {"score": "double", "probability": "double", "decision": kinds[model.classes_.dtype.kind]}
    return Schema([ColSpec(kind, name) for name, kind in columns.items()])


def log_model(model: Any, name: str = "model", registered_model_name: str | None = None, **options: Any) -> Any:
    """Write a model into the active run of MLflow, or into a new one; returns what MLflow knows of it.

    Parameters
    ----------
    model : a learner or pipeline of lopsided that has learned something
    name : what the model is called in MLflow
    registered_model_name : also make it a version of this registered model
    **options : `signature`, `input_example`, `pip_requirements`, `metadata` of `save_model`, and those of
        `mlflow.models.Model.log`.
    """
    return Model.log(
        artifact_path=None,
        name=name,
        flavor=sys.modules[__name__],
        registered_model_name=registered_model_name,
        model=model,
        **options,
    )


def load_model(model_uri: str | Path, dst_path: str | None = None) -> Any:
    """The model itself, to score, to look into, or to go on learning: as if it had never been saved.

    Parameters
    ----------
    model_uri : a folder, or what MLflow knows, such as "runs:/ID/model" or "models:/NAME/1"
    dst_path : where to download it; None: a temporary folder.
    """
    here = Path(model_uri)
    folder = here if here.is_dir() else Path(mlflow.artifacts.download_artifacts(str(model_uri), dst_path=dst_path))
    flavors = Model.load(str(folder)).flavors
    if FLAVOR not in flavors:
        raise ParameterError(
            f"The MLflow model {str(model_uri)!r} must be one of lopsided. Got one of {', '.join(sorted(flavors))}."
        )
    return load(folder / flavors[FLAVOR]["data"])


class PyfuncModel:
    """What `mlflow.pyfunc` makes of a model: `predict` answers score, probability and decision for each row.

    Parameters
    ----------
    model : the learner or pipeline.
    """

    def __init__(self, model: Any) -> None:
        self.model = model

    def predict(self, model_input: Any, params: dict[str, Any] | None = None) -> pd.DataFrame:
        """A row each: `score` (above 0: flagged), `probability` of the rare class, and `decision`, a label.

        Parameters
        ----------
        model_input : a data frame, an array, or whatever else the model takes
        params : none are known.
        """
        answer = self.model.answer(self._as_it_learned(model_input))
        scores = np.asarray(answer.score) - answer.threshold
        content = {"score": scores, "probability": answer.probability, "decision": answer.decision}
        return pd.DataFrame(content, index=model_input.index if isinstance(model_input, pd.DataFrame) else None)

    def _as_it_learned(self, rows: Any) -> Any:
        """A server makes data frames of everything: where rows had no names, names mean nothing."""
        takes_names = hasattr(self.model, "schema_") or hasattr(self.model, "feature_names_in_")
        return rows if takes_names or not hasattr(rows, "to_numpy") else rows.to_numpy()


def _load_pyfunc(path: str) -> PyfuncModel:
    """What MLflow calls."""
    return PyfuncModel(load(path))
