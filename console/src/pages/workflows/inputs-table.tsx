import type { WorkflowInputPartsFragment } from '../../api/documents/operations.ts';
import { Check, Input } from '../../parts/looks/inputs.tsx';
import { Figures } from '../../parts/looks/lines.tsx';
import { TableFrame } from '../../parts/looks/table.tsx';
import { t } from '../../text/text.ts';
import { defaultText, type DraftInput } from './draft-inputs.ts';

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
