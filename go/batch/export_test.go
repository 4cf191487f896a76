package batch

// Remembered is the number of identities that calls may share now.
func (b *Batcher[K, V]) Remembered() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.waiting.(interface{ len() int }).len()
}

func (m *identityMap[K, ID]) len() int { return len(m.calls) }
