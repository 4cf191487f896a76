/** Responses of /health, /readyz and /stats: plain reads of counters, cheap enough to poll. */
export function createReport({ chat, sockets, counters }) {
  const { delivery, storage, rooms } = chat;
  let isDraining = false;
  return {
    /** Makes the service not ready. */
    drain() {
      isDraining = true;
    },

    /** Reports whether new clients should come here. Being busy is no reason to send them away: the others are, too. */
    ready() {
      if (isDraining) return 'draining';
      return storage.state.ok ? 'ready' : 'degraded';
    },

    health() {
      const { queues, unhandled } = delivery.stats();
      return {
        status: storage.state.ok ? 'ok' : 'degraded',
        policy: delivery.policy,
        uptime_s: Math.round(process.uptime()),
        members: sockets().size,
        rooms: rooms.size,
        queues: { ...queues, commands: sockets().inFlight },
        unhandled,
        errors: counters.errors,
        storage: storage.state,
      };
    },

    stats() {
      const { user, system } = process.cpuUsage();
      const { frames, writes, batches, items, unhandled, slow, queues } = delivery.stats();
      return {
        policy: delivery.policy,
        max_delay_ms: delivery.maxDelay,
        cpu_user_us: user,
        cpu_system_us: system,
        rss_bytes: process.memoryUsage.rss(),
        uptime_ms: Math.round(process.uptime() * 1000),
        members: sockets().size,
        rooms: rooms.size,
        received_frames: counters.received,
        messages: counters.messages,
        delivered_frames: frames,
        socket_writes: writes,
        insert_batches: batches,
        insert_items: items,
        history_requests: counters.historyRequests,
        history_queries: counters.historyQueries,
        uploaded_bytes: counters.uploadedBytes,
        downloaded_bytes: counters.downloadedBytes,
        slow_closed: slow,
        unhandled,
        errors: counters.errors,
        queues: { ...queues, commands: sockets().inFlight },
      };
    },
  };
}
