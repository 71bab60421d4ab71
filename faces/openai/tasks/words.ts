/** A moment of the graph as OpenAI writes it: whole seconds since 1970. */
export function secondsOf(moment: string): number {
  return Math.floor(Date.parse(moment) / 1_000);
}
