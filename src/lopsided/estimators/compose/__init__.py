"""Learners made of learners: scalers, pipelines, tables, pools."""
