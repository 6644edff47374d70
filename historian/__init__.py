"""The memory itself: domain types, stores, durable queue, ranking and the historian that works behind `end`."""
