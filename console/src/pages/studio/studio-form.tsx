import { type KeyboardEvent, useEffect } from 'react';

import { Problem } from '../../parts/problem.tsx';
import { t, textOr } from '../../text/text.ts';
import { type Choice, membersOf, missingOf, type Values } from '../../work/work.ts';
import { CountField, Field } from './form/fields.tsx';
import { ModelPicker } from './form/model-picker.tsx';
import type { Submission } from './use-studio.ts';

interface StudioFormProps {
  readonly choices: readonly Choice[];
  readonly choice: Choice;
  readonly values: Values;
  readonly submission: Submission;
  readonly onChoose: (choice: Choice) => void;
  readonly onChange: (member: string, value: unknown) => void;
  readonly onSubmit: () => void;
}

const COUNTED: readonly string[] = ['IMAGE', 'CHARACTER_IMAGE', 'VIDEO'];

/** The form of a kind of work: the model, then only what it takes, then the button. */
export function StudioForm(props: StudioFormProps) {
  const { choices, choice, values, submission, onChoose, onChange, onSubmit } = props;
  const missing = missingOf(choice, values);
  const count = COUNTED.includes(choice.kind) ? Number(values['count'] ?? 1) : 1;
  const canSubmit = missing.length === 0 && !submission.isSending;
  const submit = () => {
    if (canSubmit) onSubmit();
  };
  useEffect(() => {
    document.querySelector<HTMLTextAreaElement>('.fields textarea')?.focus({ preventScroll: true });
  }, [choice.kind]);
  return (
    <form
      className="form"
      aria-label={t(`kind.${choice.kind}`)}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
      onKeyDown={(event: KeyboardEvent) => {
        if (event.key !== 'Enter' || !(event.metaKey || event.ctrlKey)) return;
        event.preventDefault();
        submit();
      }}
    >
      <div className="fields">
        <ModelPicker choices={choices} chosen={choice} onChoose={onChoose} />
        {membersOf(choice)
          .filter((member) => member !== 'count')
          .map((member) => (
            <Field
              key={member}
              choice={choice}
              member={member}
              values={values}
              problem={submission.problems[member]}
              onChange={onChange}
            />
          ))}
        {COUNTED.includes(choice.kind) && <CountField choice={choice} values={values} onChange={onChange} />}
      </div>
      <div className="pay">
        {submission.error !== null && <Problem error={submission.error} />}
        <p className="c12 mute">{choice.model.sandbox ? t('sandbox.meaning') : t('studio.priceUnknown')}</p>
        <button
          type="submit"
          className="btn pri lg full"
          disabled={!canSubmit}
          aria-describedby="studio-missing"
        >
          {submission.isSending
            ? t('studio.sending')
            : count === 1
              ? t('studio.makeOne')
              : t('studio.make', { count })}
          <kbd>⌘↵</kbd>
        </button>
        <p className="c12 faint" id="studio-missing">
          {missing.length === 0 ? '' : t('studio.missing', { fields: missing.map(labelOf).join(', ') })}
        </p>
      </div>
    </form>
  );
}

function labelOf(member: string): string {
  return textOr(`field.${member}`, member);
}
