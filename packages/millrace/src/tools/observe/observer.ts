/** What measures one thing while the application goes on as it is. */
export interface Observer<Figures> {
  start(): void;
  /** Puts back all that was replaced. The figures stay. */
  stop(): void;
  /** What was seen so far, as plain data. */
  read(): Figures;
}
