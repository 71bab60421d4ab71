import { useQuery } from '@apollo/client/react';
import { useId } from 'react';

import { type BudgetScope, ModelsDocument, ServiceKeysDocument } from '../../api/operations.ts';
import { useCaller } from '../../api/use-caller.ts';
import { t } from '../../text/text.ts';
import { type ChoiceProps, PersonPicker } from './person-picker.tsx';

const SCOPES: readonly BudgetScope[] = ['USER', 'KEY', 'GENERATOR', 'TOTAL'];

interface SubjectProps extends ChoiceProps {
  readonly scope: BudgetScope;
  readonly onScope: (scope: BudgetScope) => void;
}

/** Whose work a new budget bounds, chosen from a list where the caller may see it. */
export function Subject({ scope, subject, onScope, onSubject }: SubjectProps) {
  const id = useId();
  const seesLists = useCaller()?.mayIssueKeys === true;
  const choice = { subject, onSubject };
  return (
    <>
      <div className="field">
        <label htmlFor={`${id}-scope`}>{t('budget.scope')}</label>
        <select
          id={`${id}-scope`}
          className="in"
          value={scope}
          onChange={({ target }) => onScope(SCOPES.find((one) => one === target.value) ?? 'USER')}
        >
          {SCOPES.map((one) => (
            <option key={one} value={one}>
              {t(`budget.scope.${one}`)}
            </option>
          ))}
        </select>
      </div>
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

function TypedField({ label, names = [], subject, onSubject }: TypedFieldProps) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        className="in"
        required
        list={names.length === 0 ? undefined : `${id}-names`}
        value={subject}
        onChange={({ target }) => onSubject(target.value)}
      />
      <datalist id={`${id}-names`}>
        {names.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </div>
  );
}

function GeneratorField(choice: ChoiceProps) {
  const { data } = useQuery(ModelsDocument);
  const names = [...new Set(data?.models.map(({ generator }) => generator))];
  return <TypedField label={t('budget.subject.GENERATOR')} names={names} {...choice} />;
}

function KeyField({ subject, onSubject }: ChoiceProps) {
  const id = useId();
  const { data } = useQuery(ServiceKeysDocument);
  const keys = data?.serviceKeys.filter(({ revokedAt }) => revokedAt === null) ?? [];
  return (
    <div className="field">
      <label htmlFor={id}>{t('budget.scope.KEY')}</label>
      <select
        id={id}
        className="in"
        required
        value={subject}
        onChange={({ target }) => onSubject(target.value)}
      >
        <option value="">{t('budget.chooseKey')}</option>
        {keys.map((key) => (
          <option key={key.id} value={key.id}>
            {key.name} ({key.id.slice(0, 12)}…)
          </option>
        ))}
      </select>
    </div>
  );
}
