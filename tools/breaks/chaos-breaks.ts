import type { Break } from './break.ts';

/** What a short run of chaos finds (`npm run breaks -- chaos`). */
export const CHAOS_BREAKS: readonly Break[] = [];
