// A module that does nothing: what --require itself costs.
