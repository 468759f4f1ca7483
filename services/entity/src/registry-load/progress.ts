/** How far a load or a download has come. */
export interface Progress {
  /** First the whole file is read (`done` and `total` are bytes of its text), then its rows are applied. */
  readonly phase: "downloading" | "checking" | "applying";
  readonly done: number;
  /** 0 where it is not known. */
  readonly total: number;
}

/** Told often: whoever shows it chooses when. */
export type OnProgress = (progress: Progress) => void;
