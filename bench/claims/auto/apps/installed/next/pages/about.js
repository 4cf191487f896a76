import Head from 'next/head';
import Link from 'next/link';

const lines = Array.from(
  { length: 20 },
  (_, i) => `Line ${i + 1} of a page without data of its own.`,
);

export default function About() {
  return (
    <main>
      <Head>
        <title>About</title>
      </Head>
      <h1>About</h1>
      {lines.map((line) => (
        <p key={line}>{line}</p>
      ))}
      <Link href="/" prefetch={false}>
        Home
      </Link>
    </main>
  );
}
