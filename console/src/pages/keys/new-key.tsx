import { useMutation } from '@apollo/client/react';
import { type FormEvent, useId, useState } from 'react';

import { CreateServiceKeyDocument, ServiceKeysDocument } from '../../api/documents/keys.ts';
import type { BudgetInput, CreateServiceKeyMutationVariables } from '../../api/documents/operations.ts';
import { BudgetsDocument, CreateBudgetDocument } from '../../api/documents/usage.ts';
import { BoundField, SelectField, InputField } from '../../parts/controls/fields.tsx';
import { Button } from '../../parts/looks/button.tsx';
import { Check, Field, fieldLook, Help, Input, Label, labelLook } from '../../parts/looks/inputs.tsx';
import { Problem } from '../../parts/problem.tsx';
import { t } from '../../text/text.ts';
import { Secret } from './rotate-key.tsx';

const SCOPES = ['read', 'start', 'manage', 'admin'] as const;
const USUAL: readonly string[] = ['read', 'start', 'manage'];
const ENDS = [30, 90, 365] as const;
const DAY_MS = 86_400_000;

/** Makes a service key with its bounds, and shows its secret the one time that it can be seen. */
export function NewKey() {
  const id = useId();
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState<ReadonlySet<string>>(new Set(USUAL));
  const [generators, setGenerators] = useState('');
  const [days, setDays] = useState(0);
  const [bounds, setBounds] = useState<Bounds>({ amount: '', startsPerMinute: '' });
  const { createBounded, created, bounded } = useBoundedKey();
  const { data, error, loading } = created;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const only = generators.split(/[\s,]+/).filter((one) => one !== '');
    const variables = {
      name,
      scopes: [...scopes],
      generators: only.length === 0 ? null : only,
      expiresAt: days === 0 ? null : new Date(Date.now() + days * DAY_MS).toISOString(),
    };
    createBounded(variables, makeBudget(bounds)).then(
      () => {
        setName('');
        setBounds({ amount: '', startsPerMinute: '' });
      },
      () => undefined,
    );
  };
  return (
    <form className="p-4 gap-3 flex flex-col min-w-0" onSubmit={submit}>
      <div className="grid grid-cols-[repeat(auto-fit,minmax(200px,1fr))] gap-4 items-end">
        <InputField
          label={t('field.name')}
          required
          value={name}
          onChange={({ target }) => setName(target.value)}
        />
        <Field>
          <Label htmlFor={`${id}-generators`}>{t('keys.generators')}</Label>
          <Input
            id={`${id}-generators`}
            placeholder={t('keys.anyGenerator')}
            aria-describedby={`${id}-help`}
            value={generators}
            onChange={({ target }) => setGenerators(target.value)}
          />
        </Field>
        <SelectField
          label={t('keys.expires')}
          value={days}
          onChange={({ target }) => setDays(Number(target.value))}
          options={[
            [0, t('keys.noEnd')],
            ...ENDS.map((count) => [count, t('keys.inDays', { count })] as const),
          ]}
        />
        <BoundFields bounds={bounds} onChange={setBounds} />
      </div>
      <Help id={`${id}-help`}>{t('keys.generatorsHelp')}</Help>
      <Scopes chosen={scopes} onChange={setScopes} />
      <Button
        type="submit"
        kind="primary"
        className="self-start"
        disabled={loading || name.trim() === '' || scopes.size === 0}
      >
        {t('keys.create')}
      </Button>
      {error !== undefined && <Problem error={error} />}
      {bounded.error !== undefined && (
        <>
          <Help bad>{t('keys.unbounded')}</Help>
          <Problem error={bounded.error} />
        </>
      )}
      {data !== undefined && data !== null && <Secret secret={data.createServiceKey.secret} />}
    </form>
  );
}

/** Makes a key, and then its budget where there is to be one. */
function useBoundedKey() {
  const [create, created] = useMutation(CreateServiceKeyDocument, { refetchQueries: [ServiceKeysDocument] });
  const [bound, bounded] = useMutation(CreateBudgetDocument, { refetchQueries: [BudgetsDocument] });
  const createBounded = async (
    variables: CreateServiceKeyMutationVariables,
    budget: BudgetInput | null,
  ): Promise<void> => {
    const { data } = await create({ variables });
    const key = data?.createServiceKey.key;
    if (key === undefined || budget === null) return;
    const input = { ...budget, name: key.name };
    // The key is there whatever becomes of its budget; why that was refused is in `bounded`.
    await bound({ variables: { scope: 'KEY', subject: key.id, input } }).catch(() => undefined);
  };
  return { createBounded, created, bounded };
}

interface ScopesProps {
  readonly chosen: ReadonlySet<string>;
  readonly onChange: (scopes: ReadonlySet<string>) => void;
}

function Scopes({ chosen, onChange }: ScopesProps) {
  return (
    <fieldset className={fieldLook}>
      <legend className={`${labelLook} mb-1.5`}>{t('keys.may')}</legend>
      <div className="gap-4 flex items-center min-w-0 flex-wrap">
        {SCOPES.map((scope) => (
          <label key={scope} className="flex items-center gap-2 min-w-0">
            <Check
              checked={chosen.has(scope)}
              onChange={({ target }) => {
                const rest = [...chosen].filter((one) => one !== scope);
                onChange(new Set(target.checked ? [...rest, scope] : rest));
              }}
            />
            {t(`keys.scope.${scope}`)}
          </label>
        ))}
      </div>
    </fieldset>
  );
}

/** What a key may spend a month, and start a minute, as it is typed; empty is no bound. */
interface Bounds {
  readonly amount: string;
  readonly startsPerMinute: string;
}

/** The budget of a new key; null when nothing bounds it. */
function makeBudget({ amount, startsPerMinute }: Bounds): BudgetInput | null {
  if (amount.trim() === '' && startsPerMinute.trim() === '') return null;
  const number = (text: string) => (text.trim() === '' ? null : Number(text));
  return { period: 'MONTH', amount: number(amount), startsPerMinute: number(startsPerMinute) };
}

interface BoundFieldsProps {
  readonly bounds: Bounds;
  readonly onChange: (bounds: Bounds) => void;
}

function BoundFields({ bounds, onChange }: BoundFieldsProps) {
  return (
    <>
      <BoundField
        label={t('keys.amount')}
        step="any"
        value={bounds.amount}
        onChange={(amount) => onChange({ ...bounds, amount })}
      />
      <BoundField
        label={t('budget.startsPerMinute')}
        step={1}
        value={bounds.startsPerMinute}
        onChange={(startsPerMinute) => onChange({ ...bounds, startsPerMinute })}
      />
    </>
  );
}
