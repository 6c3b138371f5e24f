"""The learners, by name: where each lives. Importing this costs nothing; a learner is imported when it is asked for."""

LEARNERS: dict[str, str] = {
    "KOIL": "lopsided.estimators.koil",
    "MultiKernelKOIL": "lopsided.estimators.multikernel_koil",
    "OILK": "lopsided.estimators.oilk",
    "OnlineScaler": "lopsided.estimators.scaler",
    "StreamPipeline": "lopsided.estimators.pipeline",
}
