import { type ReactNode, useId } from 'react';

import { fieldLook, Help, Label } from '../../../parts/looks/inputs.tsx';
import { t } from '../../../text/text.ts';

interface FieldProps {
  readonly label: string;
  readonly help?: string;
  /** What the server says is wrong with it. */
  readonly problem?: string | undefined;
  readonly optional?: boolean;
  readonly children: (common: {
    readonly id: string;
    readonly 'aria-invalid': boolean;
    readonly 'aria-describedby': string | undefined;
  }) => ReactNode;
}

/** A label, its control, and what there is to say of it. */
export function Field({ label, help, problem, optional = false, children }: FieldProps) {
  const id = useId();
  const note = problem ?? help;
  const noteId = note === undefined ? undefined : `${id}-note`;
  return (
    <div className={fieldLook}>
      <Label htmlFor={id}>
        {label}
        {optional && <span className="font-normal text-faint ml-auto">{t('field.optional')}</span>}
      </Label>
      {children({
        id,
        'aria-invalid': problem !== undefined,
        'aria-describedby': noteId,
      })}
      {note !== undefined && (
        <Help id={noteId} bad={problem !== undefined}>
          {note}
        </Help>
      )}
    </div>
  );
}
