import type { InputRef } from '../inputs/input.ts';

/** Work in several steps, with the texts of its template at submission: a task stores its own copy of what it used. */
export interface RecipeWork<File = InputRef> {
  readonly kind: 'RECIPE';
  readonly taskType: string;
  readonly prompt: string;
  readonly image?: File;
  readonly aspectRatio: string;
  /** The video template's preset prompts. */
  readonly presetPrompts: readonly string[];
  /** The template's own prompt, when it has one. */
  readonly templatePrompt: string | null;
}
