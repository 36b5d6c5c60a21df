"""The experiments of the papers, and the study of selectors: loaded only when asked for."""
