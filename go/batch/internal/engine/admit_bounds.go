package engine

// hasRoom tells whether one more event of so many bytes may be queued.
func hasRoom[T any](q *Queue[T], bytes int64, o *Options) bool {
	return q.count < o.MaxQueue && bytes <= o.MaxQueueBytes && q.bytes <= o.MaxQueueBytes-bytes
}

func overloaded[T any](q *Queue[T], bytes int64, o *Options) error {
	return &overload{
		queued: q.count, maxQueue: o.MaxQueue,
		bytes: q.bytes, given: bytes, maxQueueBytes: o.MaxQueueBytes,
	}
}
