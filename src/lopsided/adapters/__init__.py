"""lopsided where you already are: River, MLflow and CapyMOA.

Each module needs the package that it is named after and is the only one that imports it: `lopsided.adapters.river`,
`lopsided.adapters.mlflow`, `lopsided.adapters.capymoa`. Learners are scikit-learn classifiers as they are, and
`lopsided.export` writes ONNX.
"""
