/** What a plot draws: one component of one quantity over time. Both sources deliver it. */
export interface SeriesSource {
  column(name: string, index: number): { t: ArrayLike<number>; v: ArrayLike<number> } | null;
  readonly start: number;
  readonly end: number;
}
