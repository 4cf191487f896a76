/** The path as an arm serves it; the name by which it is compared stays. */
export function routed(request, routes = {}) {
  const [path, query] = request.path.split('?');
  if (!Object.hasOwn(routes, path)) return request;
  const way = routes[path];
  if (query === undefined) return { ...request, path: way };
  return { ...request, path: `${way}${way.includes('?') ? '&' : '?'}${query}` };
}
