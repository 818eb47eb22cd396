"""The paper's experiments: players, budgets, results, tables and figures."""

from saz_jax.studies.budgets import BUDGETS, Budget
from saz_jax.studies.catalogue import STUDIES, Study, run_study
from saz_jax.studies.laboratory import Lab
from saz_jax.studies.reports import REPORTS, Report, write_page, write_section

__all__ = [
    "BUDGETS",
    "REPORTS",
    "STUDIES",
    "Budget",
    "Lab",
    "Report",
    "Study",
    "run_study",
    "write_page",
    "write_section",
]
