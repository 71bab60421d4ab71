/** Banned words: some that real services refuse, and a harmless one for tests. */
const BANNED_WORDS = ['nsfw-test-banned', 'nude', 'gore', 'bloodbath'];

/** The first banned word of a prompt: whole words, case-insensitive. */
export function findBannedWord(prompt: string): string | null {
  const words = prompt.toLowerCase().split(/[^\w-]+/);
  return BANNED_WORDS.find((banned) => words.includes(banned)) ?? null;
}
