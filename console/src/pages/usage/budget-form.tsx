import { useMutation } from '@apollo/client/react';
import { type FormEvent, useId, useState } from 'react';

import type {
  BudgetInput,
  BudgetPartsFragment,
  BudgetPeriod,
  BudgetScope,
} from '../../api/documents/operations.ts';
import {
  BudgetsDocument,
  CreateBudgetDocument,
  DeleteBudgetDocument,
  UpdateBudgetDocument,
} from '../../api/documents/usage.ts';
import { BoundField, SelectField, InputField } from '../../parts/controls/fields.tsx';
import { Modal } from '../../parts/controls/modal.tsx';
import { Button } from '../../parts/looks/button.tsx';
import { Check } from '../../parts/looks/inputs.tsx';
import { Problem } from '../../parts/problem.tsx';
import { t } from '../../text/text.ts';
import { Subject } from './subject.tsx';

interface BudgetFormProps {
  /** The budget that is changed; null for a new one. */
  readonly budget: BudgetPartsFragment | null;
  readonly onClose: () => void;
}

/** Makes a budget of a user, a key, a generator or everything, changes one, or takes it away. */
export function BudgetForm({ budget, onClose }: BudgetFormProps) {
  const id = useId();
  const refetchQueries = [BudgetsDocument];
  const [create, created] = useMutation(CreateBudgetDocument, { refetchQueries });
  const [update, updated] = useMutation(UpdateBudgetDocument, { refetchQueries });
  const [remove, removed] = useMutation(DeleteBudgetDocument, { refetchQueries });
  const [scope, setScope] = useState<BudgetScope>(budget?.scope ?? 'USER');
  const [subject, setSubject] = useState(budget?.subject ?? '');
  const [texts, setTexts] = useState<Texts>(() => writeBudget(budget));
  const done = (answer: Promise<unknown>) => void answer.then(onClose, () => undefined);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const input = makeInput(texts);
    if (budget !== null) return done(update({ variables: { id: budget.id, input } }));
    const named = scope === 'TOTAL' ? null : subject.trim();
    return done(create({ variables: { scope, subject: named, input } }));
  };
  const error = created.error ?? updated.error ?? removed.error;
  return (
    <Modal
      title={budget === null ? t('budget.new') : t('budget.change', { name: budget.name })}
      onClose={onClose}
      foot={
        <>
          {budget !== null && (
            <Button
              kind="bad"
              onClick={() => {
                if (!window.confirm(t('budget.sure', { name: budget.name }))) return;
                done(remove({ variables: { id: budget.id } }));
              }}
            >
              {t('budget.delete')}
            </Button>
          )}
          <Button
            type="submit"
            form={id}
            kind="primary"
            className="ml-auto"
            disabled={created.loading || updated.loading || removed.loading}
          >
            {t('budget.save')}
          </Button>
        </>
      }
    >
      <form id={id} className="gap-3 flex flex-col min-w-0" onSubmit={submit}>
        {budget === null && (
          <Subject
            scope={scope}
            subject={subject}
            onScope={(next) => {
              setScope(next);
              setSubject('');
            }}
            onSubject={setSubject}
          />
        )}
        <BudgetAmounts texts={texts} onChange={setTexts} />
        {error !== undefined && <Problem error={error} />}
      </form>
    </Modal>
  );
}

function writeBudget(budget: BudgetPartsFragment | null): Texts {
  const text = (value: number | null | undefined) => (value == null ? '' : String(value));
  return {
    name: budget?.name ?? '',
    period: budget?.period ?? 'MONTH',
    amount: text(budget?.amount),
    softAmount: text(budget?.softAmount),
    maxRunning: text(budget?.maxRunning),
    startsPerMinute: text(budget?.startsPerMinute),
    refusesUnknownPrices: budget?.refusesUnknownPrices ?? false,
  };
}

/** An empty field is no bound. */
function makeInput({ name, period, refusesUnknownPrices, ...bounds }: Texts): BudgetInput {
  const number = (text: string) => (text.trim() === '' ? null : Number(text));
  return {
    ...(name.trim() === '' ? {} : { name: name.trim() }),
    period,
    refusesUnknownPrices,
    amount: number(bounds.amount),
    softAmount: number(bounds.softAmount),
    maxRunning: number(bounds.maxRunning),
    startsPerMinute: number(bounds.startsPerMinute),
  };
}

const BOUNDS = [
  { name: 'amount', step: 'any' },
  { name: 'softAmount', step: 'any' },
  { name: 'maxRunning', step: 1 },
  { name: 'startsPerMinute', step: 1 },
] as const;

/** What the form of a budget holds, as it is typed. */
interface Texts {
  readonly name: string;
  readonly period: BudgetPeriod;
  readonly amount: string;
  readonly softAmount: string;
  readonly maxRunning: string;
  readonly startsPerMinute: string;
  readonly refusesUnknownPrices: boolean;
}

interface BudgetAmountsProps {
  readonly texts: Texts;
  readonly onChange: (texts: Texts) => void;
}

/** The name, the period and the bounds of a budget; what is left empty is not bounded. */
function BudgetAmounts({ texts, onChange }: BudgetAmountsProps) {
  return (
    <>
      <div className="grid grid-cols-[repeat(auto-fit,minmax(200px,1fr))] gap-4 items-end">
        <InputField
          label={t('field.name')}
          value={texts.name}
          onChange={({ target }) => onChange({ ...texts, name: target.value })}
        />
        <SelectField
          label={t('budget.period')}
          value={texts.period}
          onChange={({ target }) => onChange({ ...texts, period: target.value === 'DAY' ? 'DAY' : 'MONTH' })}
          options={[
            ['MONTH', t('budget.MONTH')],
            ['DAY', t('budget.DAY')],
          ]}
        />
        {BOUNDS.map(({ name, step }) => (
          <BoundField
            key={name}
            label={t(`budget.${name}`)}
            step={step}
            value={texts[name]}
            onChange={(value) => onChange({ ...texts, [name]: value })}
          />
        ))}
      </div>
      <label className="flex items-center gap-2 min-w-0">
        <Check
          checked={texts.refusesUnknownPrices}
          onChange={({ target }) => onChange({ ...texts, refusesUnknownPrices: target.checked })}
        />
        {t('budget.unknown')}
      </label>
    </>
  );
}
