import Image from 'next/image';
import Link from 'next/link';
import styles from './page.module.css';

const links = [
  ['Learn', '/mark.svg'],
  ['Templates', '/window.svg'],
  ['Deploy', '/globe.svg'],
];

export default function Home() {
  return (
    <div className={styles.page}>
      <main className={styles.main}>
        <Image src="/mark.svg" alt="The mark" width={100} height={100} priority />
        <ol>
          <li>
            Get started by editing <code>app/page.js</code>.
          </li>
          <li>Save and see your changes instantly.</li>
        </ol>
      </main>
      <footer className={styles.footer}>
        {links.map(([name, icon]) => (
          <Link key={name} href={`/${name.toLowerCase()}`} prefetch={false}>
            <Image aria-hidden src={icon} alt="" width={16} height={16} />
            {name}
          </Link>
        ))}
      </footer>
    </div>
  );
}
