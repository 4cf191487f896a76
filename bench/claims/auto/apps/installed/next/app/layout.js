import './globals.css';

export default function Layout({ children }) {
  return (
    <html lang="en">
      <head>
        <title>A page of Next.js</title>
      </head>
      <body>{children}</body>
    </html>
  );
}
