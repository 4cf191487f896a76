/** Marks in the list “On this page” where the reader is. */

export function startContents() {
  const links = [...document.querySelectorAll('.contents a')];
  const headings = links.map((link) =>
    document.getElementById(decodeURIComponent(link.hash.slice(1))),
  );
  if (links.length === 0) return;
  let marked;
  const mark = () => {
    const above = headings.filter((heading) => heading.getBoundingClientRect().top < 120).length;
    const link = links[Math.max(0, above - 1)];
    if (link === marked) return;
    marked?.removeAttribute('aria-current');
    link.setAttribute('aria-current', 'location');
    const list = link.closest('.contents');
    const isInSight =
      link.offsetTop > list.scrollTop && link.offsetTop < list.scrollTop + list.clientHeight - 40;
    if (!isInSight) list.scrollTop = link.offsetTop - list.clientHeight / 2;
    marked = link;
  };
  document.addEventListener('scroll', () => requestAnimationFrame(mark), { passive: true });
  mark();
}
