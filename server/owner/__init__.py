"""One process owns a data folder and serves every client of it; `attach` is the light end, `process` the heavy one."""
