"""Jobs: a pipeline in a TOML file, read into frozen values and checked before Spark starts."""

from muntin.jobs.fields import Option, options_of
from muntin.jobs.job import Input, Job, Output, Question, Settings, Trigger
from muntin.jobs.reader import JobError, named, read_job
from muntin.jobs.secrets import hide

__all__ = [
    "Input",
    "Job",
    "JobError",
    "Option",
    "Output",
    "Question",
    "Settings",
    "Trigger",
    "hide",
    "named",
    "options_of",
    "read_job",
]
