/** A difference that is known, and why it is right to send what is sent. */
export interface KnownDifference {
  readonly provider: string;
  /** Part of the told problem. */
  readonly told: string;
  readonly why: string;
}

/** Differences between what is sent and the vendors' descriptions that stand; docs/upstream-protocols.md reports them too. */
export const KNOWN: readonly KnownDifference[] = [
  {
    provider: 'openai',
    told: '/quality ',
    why: 'gpt-image-2.5 came after the description of 21 August 2026: openai 7.57.0 (npm), resources/images.d.ts, has xhigh and max for it',
  },
  {
    provider: 'openai',
    told: '"complexity"',
    why: 'newer than the description: openai 7.57.0 (npm), resources/images.d.ts, has it for images and edits',
  },
  {
    provider: 'openai',
    told: '"safety_identifier"',
    why: 'newer than the description: openai 7.57.0 (npm), resources/images.d.ts, has it for images and edits, and calls `user` deprecated',
  },
  {
    provider: 'gemini',
    told: ':predictLongRunning in the description',
    why: 'Google documents videos of Veo with it, and its discovery of August 2026 has neither it nor another way; @google/genai 3.x has it for Vertex alone, and interactions of Omni models',
  },
];
