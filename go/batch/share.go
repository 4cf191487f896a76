package batch

// identities finds the call that waits for a key. The calls are kept as any: they have a type parameter more.
type identities[K any] interface {
	get(key K) any
	set(key K, call any)
	remove(key K)
	// clear: no call waits. It also forgets those whose identity is not equal to itself, as NaN.
	clear()
}

type identityMap[K any, ID comparable] struct {
	of    func(K) ID
	calls map[ID]any
}

// identify makes the identities of one batcher.
type identify[K any] func() identities[K]

func newIdentities[K any, ID comparable](of func(K) ID) identify[K] {
	return func() identities[K] { return &identityMap[K, ID]{of, map[ID]any{}} }
}

func (m *identityMap[K, ID]) get(key K) any       { return m.calls[m.of(key)] }
func (m *identityMap[K, ID]) set(key K, call any) { m.calls[m.of(key)] = call }
func (m *identityMap[K, ID]) remove(key K)        { delete(m.calls, m.of(key)) }
func (m *identityMap[K, ID]) clear()              { clear(m.calls) }
