import { useQuery } from '@apollo/client/react';
import { useId, useState } from 'react';

import { useCaller } from '../../api/caller.ts';
import { PeopleDocument, ServiceKeysDocument } from '../../api/documents/keys.ts';
import type { BudgetScope } from '../../api/documents/operations.ts';
import { useModels } from '../../api/shared-queries.ts';
import { InputField, SelectField } from '../../parts/controls/fields.tsx';
import { useDebounced } from '../../parts/controls/typing.ts';
import { fieldLook, Help, Input, labelLook } from '../../parts/looks/inputs.tsx';
import { Small } from '../../parts/looks/lines.tsx';
import { Problem } from '../../parts/problem.tsx';
import { t } from '../../text/text.ts';

const SCOPES: readonly BudgetScope[] = ['USER', 'KEY', 'GENERATOR', 'TOTAL'];

interface SubjectProps extends ChoiceProps {
  readonly scope: BudgetScope;
  readonly onScope: (scope: BudgetScope) => void;
}

/** Whose work a new budget bounds, chosen from a list where the caller may see it. */
export function Subject({ scope, subject, onScope, onSubject }: SubjectProps) {
  const seesLists = useCaller()?.mayIssueKeys === true;
  const choice = { subject, onSubject };
  return (
    <>
      <SelectField
        label={t('budget.scope')}
        value={scope}
        onChange={({ target }) => onScope(SCOPES.find((one) => one === target.value) ?? 'USER')}
        options={SCOPES.map((one) => [one, t(`budget.scope.${one}`)])}
      />
      {scope === 'GENERATOR' && <GeneratorField {...choice} />}
      {scope === 'USER' && seesLists && <PersonPicker {...choice} />}
      {scope === 'KEY' && seesLists && <KeyField {...choice} />}
      {(scope === 'USER' || scope === 'KEY') && !seesLists && (
        <TypedField label={t(`budget.subject.${scope}`)} {...choice} />
      )}
    </>
  );
}

interface TypedFieldProps extends ChoiceProps {
  readonly label: string;
  /** What may be typed, as suggestions. */
  readonly names?: readonly string[];
}

function TypedField({ subject, onSubject, ...rest }: TypedFieldProps) {
  return <InputField {...rest} required value={subject} onChange={({ target }) => onSubject(target.value)} />;
}

function GeneratorField(choice: ChoiceProps) {
  const { models = [] } = useModels().data ?? {};
  const names = [...new Set(models.map(({ generator }) => generator))];
  return <TypedField label={t('budget.subject.GENERATOR')} names={names} {...choice} />;
}

function KeyField({ subject, onSubject }: ChoiceProps) {
  const { data } = useQuery(ServiceKeysDocument);
  const keys = data?.serviceKeys.filter(({ revokedAt }) => revokedAt === null) ?? [];
  return (
    <SelectField
      label={t('budget.scope.KEY')}
      required
      value={subject}
      onChange={({ target }) => onSubject(target.value)}
      empty={t('budget.chooseKey')}
      options={keys.map((key) => [key.id, `${key.name} (${key.id.slice(0, 12)}…)`])}
    />
  );
}

const SHOWN = 6;
const REST_MS = 250;
const VISITORS = 'anon';

interface ChoiceProps {
  /** The id that is chosen; empty for none. */
  readonly subject: string;
  readonly onSubject: (subject: string) => void;
}

/** Somebody who has signed in, found by a part of their name, address or id; or everybody who has not. */
function PersonPicker({ subject, onSubject }: ChoiceProps) {
  const id = useId();
  const [words, setWords] = useState('');
  const search = useDebounced(words.trim(), REST_MS);
  const { data, previousData, error } = useQuery(PeopleDocument, {
    variables: { first: SHOWN, search: search === '' ? null : search },
  });
  const found = (data ?? previousData)?.users.edges.map(({ node }) => node) ?? [];
  const people = [
    ...found.map((person) => ({
      id: person.id,
      name: person.name ?? person.email ?? person.subject ?? person.id,
      note: person.email ?? person.subject ?? person.id,
    })),
    ...(search === '' ? [{ id: VISITORS, name: t('budget.visitors'), note: VISITORS }] : []),
  ];
  const isHidden = subject !== '' && people.every((one) => one.id !== subject);
  return (
    <fieldset className={fieldLook}>
      <legend className={labelLook}>{t('budget.scope.USER')}</legend>
      <Input
        type="search"
        aria-label={t('people.search')}
        placeholder={t('people.search')}
        value={words}
        onChange={({ target }) => setWords(target.value)}
      />
      {error !== undefined && <Problem error={error} />}
      {/* Who was chosen stays so when they are searched away. */}
      {[...people, ...(isHidden ? [{ id: subject, name: subject, note: '' }] : [])].map((one) => (
        <label
          key={one.id}
          className="flex items-center gap-2 min-w-0 min-h-7 [&_input]:[accent-color:var(--ink)]"
        >
          <input
            type="radio"
            name={id}
            required
            checked={one.id === subject}
            onChange={() => onSubject(one.id)}
          />
          <span className="font-medium">{one.name}</span>
          {one.note !== one.name && <Small className="truncate min-w-0">{one.note}</Small>}
        </label>
      ))}
      {data !== undefined && people.length === 0 && <Help>{t('gallery.noMatch')}</Help>}
    </fieldset>
  );
}
