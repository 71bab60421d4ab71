import { z } from 'zod';

const LEVELS = ['silent', 'error', 'warn', 'info', 'debug'] as const;
const PARTS = ['gateway', 'media', 'workflow', 'worker', 'sandbox'] as const;

/** Least severe level that is logged; `silent` logs nothing. */
export type LogLevel = (typeof LEVELS)[number];

/** A part of the process, whose level can be set by itself. */
export type LogPart = (typeof PARTS)[number];

const isLevel = (text: string | undefined): text is LogLevel => LEVELS.some((level) => level === text);

/** A level for all, and levels of parts after it: `info,worker=debug`. */
export const logLevels = z.string().transform((text, context) => {
  const [level, ...entries] = text.split(',').map((entry) => entry.trim());
  const pairs = entries.map((entry) => entry.split('='));
  const areKnown = pairs.every(([part, own, more]) => {
    return PARTS.some((name) => name === part) && isLevel(own) && more === undefined;
  });
  if (isLevel(level) && areKnown) {
    const parts: Partial<Record<LogPart, LogLevel>> = Object.fromEntries(pairs);
    return { level, parts };
  }
  const message = `must be ${LEVELS.join(', ')}; after it of parts (${PARTS.join(', ')}): info,worker=debug`;
  context.addIssue({ code: 'custom', message });
  return z.NEVER;
});
