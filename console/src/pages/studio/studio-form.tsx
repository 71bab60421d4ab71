import { type ClipboardEvent, type DragEvent, type KeyboardEvent, useEffect } from 'react';

import { MODIFIER } from '../../parts/controls/typing.ts';
import { Button } from '../../parts/looks/button.tsx';
import { fieldLook, Label, Select } from '../../parts/looks/inputs.tsx';
import { Row } from '../../parts/looks/lines.tsx';
import { sideFieldsLook, sideFormLook } from '../../parts/looks/panels.tsx';
import { useIncrementalCount } from '../../parts/page/later.tsx';
import { Problem } from '../../parts/problem.tsx';
import { t, textOr } from '../../text/text.ts';
import { accepts } from '../../work/files.ts';
import type { WorkKind } from '../../work/kinds.ts';
import { findRefusal } from '../../work/model-words.ts';
import { type Choice, listMembers, listMissing, optionFields, type Values } from '../../work/work.ts';
import { CodeButton } from './form/code-button.tsx';
import { Estimate, useEstimate } from './form/estimate.tsx';
import { CountField, Field } from './form/fields.tsx';
import { ModelPicker } from './form/models/model-picker.tsx';
import { OptionsFields } from './form/options/options-fields.tsx';
import { SeveralButton } from './several/several-button.tsx';
import type { Submission } from './use-studio.ts';

/** The form of one choice, with what was filled in. */
export interface StudioFormProps {
  readonly choices: readonly Choice[];
  readonly choice: Choice;
  readonly values: Values;
  readonly submission: Submission;
  readonly onChoose: (choice: Choice) => void;
  readonly onChange: (member: string, value: unknown) => void;
  readonly onSubmit: () => void;
  /** Whether a whole form was drawn on this page: the button is there then, and the next form is drawn in fewer turns. */
  readonly isDrawn: boolean;
  readonly onDrawn: () => void;
}

/** Fields that are drawn in one turn of the event loop, once the page is there. */
const FIELDS = 3;

/** Members that are written into a text area: the first of them has the focus. */
const TEXTS: readonly string[] = ['prompt', 'text'];

const COUNTED: readonly string[] = ['IMAGE', 'CHARACTER_IMAGE', 'VIDEO'];

/** The form of a kind of work: the model, then only what it takes, then the button. */
export function StudioForm(props: StudioFormProps) {
  const { choices, choice, values, submission, onChoose, onChange, onSubmit, isDrawn, onDrawn } = props;
  const members = listMembers(choice).filter((member) => member !== 'count');
  // The fields from above, then the options, then a turn before what is beside the form: nothing that is drawn moves, or blocks
  // for long. The first form of a page begins with the model alone.
  const whole = members.length + 2;
  const shown = useIncrementalCount(whole, isDrawn ? FIELDS : 1, isDrawn ? FIELDS : 0);
  const isWhole = shown >= whole;
  const missing = listMissing(choice, values);
  const count = COUNTED.includes(choice.kind) ? Number(values['count'] ?? 1) : 1;
  const estimated = useEstimate(choice, values, count);
  const isRefused = findRefusal(choice.model) !== null || estimated.problem !== null;
  const canSubmit = missing.length === 0 && !isRefused && !submission.isSending;
  const submit = () => {
    if (canSubmit) onSubmit();
  };
  const isTextDrawn = members.slice(0, shown).some((member) => TEXTS.includes(member));
  useFirstFocus(choice.kind, isTextDrawn);
  useEffect(() => (isWhole ? onDrawn() : undefined), [isWhole, onDrawn]);
  return (
    <form
      data-studio-form
      className={sideFormLook}
      aria-label={t(`kind.${choice.kind}`)}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
      onKeyDown={(event: KeyboardEvent<HTMLFormElement>) => {
        if (event.key !== 'Enter' || !(event.metaKey || event.ctrlKey)) return;
        event.preventDefault();
        event.currentTarget.requestSubmit();
      }}
      onPaste={(event: ClipboardEvent<HTMLFormElement>) => {
        if (giveFiles(event.currentTarget, event.clipboardData)) event.preventDefault();
      }}
      onDragOver={(event: DragEvent) => event.preventDefault()}
      onDrop={(event: DragEvent<HTMLFormElement>) => {
        event.preventDefault();
        giveFiles(event.currentTarget, event.dataTransfer);
      }}
    >
      <div data-fields className={sideFieldsLook}>
        <KindField choices={choices} choice={choice} onChoose={onChoose} />
        <ModelPicker
          choices={choices.filter(({ kind }) => kind === choice.kind)}
          chosen={choice}
          onChoose={onChoose}
        />
        {members.slice(0, shown).map((member) => (
          <Field
            key={member}
            choice={choice}
            member={member}
            values={values}
            problem={submission.problems[member]}
            onChange={onChange}
          />
        ))}
        {shown > members.length && (
          <OptionsFields
            fields={optionFields(choice)}
            of={choice.key}
            options={values['options']}
            problems={submission.problems}
            onChange={(options) => onChange('options', options)}
          />
        )}
        {shown > members.length && COUNTED.includes(choice.kind) && (
          <CountField choice={choice} values={values} onChange={onChange} />
        )}
      </div>
      {isDrawn && (
        <div className="border-t border-t-line pt-3 pr-4 pb-4 pl-4 flex flex-col gap-3 max-sm:sticky max-sm:bottom-14 max-sm:bg-surface max-sm:z-5 max-sm:py-3 max-sm:px-4">
          {submission.error !== null && <Problem error={submission.error} />}
          <Estimate estimated={estimated} count={count} isFree={choice.model.sandbox} />
          <Buttons
            choices={choices.filter(({ kind }) => kind === choice.kind)}
            choice={choice}
            values={values}
            submission={submission}
            count={count}
            canSubmit={canSubmit}
          />
          <p className="text-faint text-12 font-normal" id="studio-missing">
            {missing.length === 0 ? '' : t('studio.missing', { fields: missing.map(toLabel).join(', ') })}
          </p>
        </div>
      )}
    </form>
  );
}

/** Puts the focus into the first text area of another kind of work, once it is there. */
function useFirstFocus(kind: WorkKind, isTextDrawn: boolean): void {
  useEffect(() => {
    document.querySelector<HTMLTextAreaElement>('[data-fields] textarea')?.focus({ preventScroll: true });
  }, [kind, isTextDrawn]);
}

interface ButtonsProps extends Pick<StudioFormProps, 'choices' | 'choice' | 'values' | 'submission'> {
  readonly count: number;
  readonly canSubmit: boolean;
}

/** Starts the work; several at once; or as code. */
function Buttons({ choices, choice, values, submission, count, canSubmit }: ButtonsProps) {
  return (
    <Row>
      <Button
        type="submit"
        kind="primary"
        size="large"
        className="min-w-0 flex-1 max-sm:h-12"
        disabled={!canSubmit}
        aria-describedby="studio-missing"
      >
        {submission.isSending
          ? t('studio.sending')
          : count === 1
            ? t('studio.makeOne')
            : t('studio.make', { count })}
        <kbd className="border-on-ink/35 bg-transparent text-on-ink in-disabled:hidden" aria-hidden="true">
          {MODIFIER}↵
        </kbd>
      </Button>
      <SeveralButton
        choices={choices}
        choice={choice}
        values={values}
        onRun={(runs) => void submission.submitAll(runs)}
      />
      <CodeButton choice={choice} values={values} />
    </Row>
  );
}

/** Gives what is pasted or dropped anywhere on the form to its first field that takes it. */
function giveFiles(form: HTMLFormElement, { files }: DataTransfer): boolean {
  const [file] = files;
  if (file === undefined) return false;
  const inputs = form.querySelectorAll<HTMLInputElement>('input[type=file]:not(:disabled)');
  const input = [...inputs].find(({ accept }) => accepts(accept, file.type));
  if (input === undefined) return false;
  input.files = files;
  input.dispatchEvent(new Event('change', { bubbles: true }));
  return true;
}

/** What to make, where a tab has several kinds of work; each has its own models and fields. */
function KindField({ choices, choice, onChoose }: Pick<StudioFormProps, 'choices' | 'choice' | 'onChoose'>) {
  const kinds = [...new Set<WorkKind>(choices.map(({ kind }) => kind))];
  if (kinds.length < 2) return null;
  return (
    <div className={fieldLook}>
      <Label htmlFor="studio-what">{t('studio.what')}</Label>
      <Select
        id="studio-what"
        value={choice.kind}
        onChange={({ target }) => {
          const next = choices.find(({ kind }) => kind === target.value);
          if (next !== undefined) onChoose(next);
        }}
        options={kinds.map((kind) => [kind, t(`kind.${kind}`)])}
      />
    </div>
  );
}

function toLabel(member: string): string {
  return textOr(`field.${member}`, member);
}
