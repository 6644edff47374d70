"""Stands in for an embedding model whose loading takes a minute: the import itself hangs."""

from __future__ import annotations

import sys
import time

sys.stderr.write("loading hangs\n")
sys.stderr.flush()
time.sleep(60)  # the fault that is injected
raise ImportError("the model never came")
