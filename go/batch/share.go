package batch

// identities finds the call that waits for a key. Calls and identities are kept as any: they have more type parameters.
type identities[K any] interface {
	// of asks the function of WithKey, once for each call and without the lock: it may panic, and the key may change
	// later. It uses the memory of an earlier identity. Nil: equal to nothing, not even to itself, like NaN.
	of(key K, again any) any
	get(id any) any
	set(id, call any)
	remove(id any)
}

type identityMap[K any, ID comparable] struct {
	fn    func(K) ID
	calls map[ID]any
}

// identify makes the identities of one batcher.
type identify[K any] func() identities[K]

func newIdentities[K any, ID comparable](fn func(K) ID) identify[K] {
	return func() identities[K] { return &identityMap[K, ID]{fn, map[ID]any{}} }
}

func (m *identityMap[K, ID]) of(key K, again any) any {
	id, _ := again.(*ID)
	if id == nil {
		id = new(ID)
	}
	if *id = m.fn(key); *id != *id {
		return nil
	}
	return id
}

func (m *identityMap[K, ID]) get(id any) any   { return m.calls[*id.(*ID)] }
func (m *identityMap[K, ID]) set(id, call any) { m.calls[*id.(*ID)] = call }
func (m *identityMap[K, ID]) remove(id any)    { delete(m.calls, *id.(*ID)) }
