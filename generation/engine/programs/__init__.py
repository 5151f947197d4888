"""Analysis of programs: their structure, the steps they do not need, and answers with a step left out."""
