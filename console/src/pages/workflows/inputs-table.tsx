import type { WorkflowInputPartsFragment, WorkflowParameterInput } from '../../api/documents/operations.ts';
import { Check, Input } from '../../parts/looks/inputs.tsx';
import { Figures } from '../../parts/looks/lines.tsx';
import { TableFrame } from '../../parts/looks/table.tsx';
import { t } from '../../text/text.ts';

/** The inputs of a graph as a form has them, and as they are saved. */

/** An input as the form has it: whether it is taken, and its name. */
export interface DraftInput {
  readonly input: WorkflowInputPartsFragment;
  readonly isTaken: boolean;
  readonly name: string;
  /** As text, where a person changes it; null: as the graph has it. */
  readonly value: string | null;
}

/** All that a graph offers, each taken. */
export function makeDrafts(inputs: readonly WorkflowInputPartsFragment[]): readonly DraftInput[] {
  return inputs.map((input) => ({ input, isTaken: true, name: input.name, value: null }));
}

/** What is saved: those that are taken, under their names, with the defaults that were changed. */
export function savedInputs(drafts: readonly DraftInput[]): WorkflowParameterInput[] {
  return drafts
    .filter(({ isTaken }) => isTaken)
    .map(({ input, name, value }) => {
      const { type, at, required, default: own, minimum, maximum, multipleOf, values, description } = input;
      const chosen = value === null ? own : parseValue(type, value);
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
function parseValue(type: WorkflowInputPartsFragment['type'], text: string): unknown {
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

interface InputsTableProps {
  readonly inputs: readonly DraftInput[];
  readonly onChange: (inputs: readonly DraftInput[]) => void;
}

/** What a graph offers as inputs: which of them callers can set, how they are called, and their default. */
export function InputsTable({ inputs, onChange }: InputsTableProps) {
  const set = (index: number, change: Partial<DraftInput>) =>
    onChange(inputs.map((one, at) => (at === index ? { ...one, ...change } : one)));
  return (
    <TableFrame label={t('workflows.inputs')}>
      <table>
        <thead>
          <tr>
            <th>
              <span className="sr-only">{t('workflows.taken')}</span>
            </th>
            <th>{t('field.name')}</th>
            <th className="max-sm:hidden">{t('workflows.inputType')}</th>
            <th>{t('workflows.default')}</th>
            <th className="max-sm:hidden">{t('workflows.at')}</th>
          </tr>
        </thead>
        <tbody>
          {inputs.map(({ input, isTaken, name, value }, index) => (
            <tr key={`${input.at.join()} ${input.name}`}>
              <td>
                <Check
                  aria-label={t('workflows.take', { name: input.name })}
                  checked={isTaken}
                  onChange={({ target }) => set(index, { isTaken: target.checked })}
                />
              </td>
              <td>
                <Input
                  aria-label={t('workflows.nameOf', { name: input.name })}
                  disabled={!isTaken}
                  value={name}
                  onChange={({ target }) => set(index, { name: target.value })}
                />
              </td>
              <td className="max-sm:hidden text-muted">
                {t(`workflows.in.${input.type}`)} <Bounds input={input} />
              </td>
              <td>
                {input.type !== 'FILE' && (
                  <Input
                    aria-label={t('workflows.defaultOf', { name: input.name })}
                    disabled={!isTaken}
                    value={value ?? defaultText(input.default)}
                    onChange={({ target }) => set(index, { value: target.value })}
                  />
                )}
              </td>
              <td className="max-sm:hidden font-mono text-muted text-12 font-normal">
                {input.at.join(', ')}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </TableFrame>
  );
}

function Bounds({ input: { minimum, maximum } }: { readonly input: WorkflowInputPartsFragment }) {
  if (minimum === null && maximum === null) return null;
  return (
    <Figures small>
      {minimum ?? ''} – {maximum ?? ''}
    </Figures>
  );
}
