import type { WorkflowInputPartsFragment, WorkflowParameterInput } from '../../api/documents/operations.ts';

/** The inputs of a graph as a form has them, and as they are saved. Pure. */

/** An input as the form has it: whether it is taken, and its name. */
export interface DraftInput {
  readonly input: WorkflowInputPartsFragment;
  readonly isTaken: boolean;
  readonly name: string;
  /** As text, where a person changes it; null: as the graph has it. */
  readonly value: string | null;
}

/** All that a graph offers, each taken. */
export function draftsOf(inputs: readonly WorkflowInputPartsFragment[]): readonly DraftInput[] {
  return inputs.map((input) => ({ input, isTaken: true, name: input.name, value: null }));
}

/** What is saved: those that are taken, under their names, with the defaults that were changed. */
export function savedInputs(drafts: readonly DraftInput[]): WorkflowParameterInput[] {
  return drafts
    .filter(({ isTaken }) => isTaken)
    .map(({ input, name, value }) => {
      const { type, at, required, default: own, minimum, maximum, multipleOf, values, description } = input;
      const chosen = value === null ? own : valueOf(type, value);
      return {
        name: name.trim(),
        type,
        at: [...at],
        required: chosen === null && required,
        description,
        ...(chosen !== null && { default: chosen }),
        ...(minimum !== null && { minimum }),
        ...(maximum !== null && { maximum }),
        ...(multipleOf !== null && { multipleOf }),
        ...(values !== null && { values: [...values] }),
      };
    });
}

/** A default as its type has it; null for an empty one. What is no number stays a text, which the server refuses by name. */
function valueOf(type: WorkflowInputPartsFragment['type'], text: string): unknown {
  if (text.trim() === '' && type !== 'TEXT') return null;
  if (type === 'INTEGER' || type === 'NUMBER') return Number.isNaN(Number(text)) ? text : Number(text);
  if (type === 'BOOLEAN') return text === 'true' ? true : text === 'false' ? false : text;
  return text;
}

/** A default as text: empty where there is none. */
export function defaultText(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
