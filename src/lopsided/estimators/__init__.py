"""The learners, by name: where each lives. Importing this costs nothing; a learner is imported when it is asked for."""

LEARNERS: dict[str, str] = {
    "KOIL": "lopsided.estimators.koil",
    "MultiKernelKOIL": "lopsided.estimators.multikernel_koil",
    "OILK": "lopsided.estimators.oilk",
    "SPA": "lopsided.estimators.spa",
    "OSKL": "lopsided.estimators.spa",
    "KernelPerceptron": "lopsided.estimators.kernel_classifiers",
    "KernelOGD": "lopsided.estimators.kernel_classifiers",
    "NORMA": "lopsided.estimators.kernel_classifiers",
    "KernelPA": "lopsided.estimators.kernel_classifiers",
    "RBP": "lopsided.estimators.budget_classifiers",
    "Forgetron": "lopsided.estimators.budget_classifiers",
    "BPAS": "lopsided.estimators.budget_classifiers",
    "BOGD": "lopsided.estimators.budget_classifiers",
    "Projectron": "lopsided.estimators.projectron",
    "ProjectronPP": "lopsided.estimators.projectron",
    "BOMKC": "lopsided.estimators.multiple_kernels",
    "OMKC": "lopsided.estimators.multiple_kernels",
    "OnlineScaler": "lopsided.estimators.scaler",
    "StreamPipeline": "lopsided.estimators.pipeline",
}
