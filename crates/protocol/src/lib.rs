//! Payloads, keys and codec of the bus and the log, with numbers of their own.
