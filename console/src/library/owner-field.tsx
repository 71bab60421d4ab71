import { useQuery } from '@apollo/client/react';
import { useId, useState } from 'react';

import { PeopleDocument } from '../api/operations.ts';
import { useDebounced } from '../parts/controls/use-debounced.ts';
import { t } from '../text/text.ts';

const REST_MS = 300;
const MOST = 20;

interface OwnerFieldProps {
  readonly value: string | undefined;
  readonly onChange: (owner: string) => void;
}

/** Whose: a person found by name or address, or the id of a key. */
export function OwnerField({ value = '', onChange }: OwnerFieldProps) {
  const id = useId();
  const [typed, setTyped] = useState(value);
  const search = useDebounced(typed.trim(), REST_MS);
  const { data, previousData } = useQuery(PeopleDocument, {
    variables: { first: MOST, search: search === '' || search.startsWith('usr_') ? null : search },
  });
  const people = ((data ?? previousData)?.users.edges ?? []).map(({ node }) => node);
  return (
    <form
      className="field"
      onSubmit={(event) => {
        event.preventDefault();
        onChange(typed.trim());
      }}
    >
      <label htmlFor={id}>{t('task.owner')}</label>
      <input
        id={id}
        className="in"
        list={`${id}-people`}
        placeholder={t('narrow.ownerHint')}
        value={typed}
        onChange={({ target }) => {
          setTyped(target.value);
          // Chosen from the list, or emptied: there is nothing more to type.
          if (target.value === '' || people.some((one) => one.id === target.value)) onChange(target.value);
        }}
      />
      <datalist id={`${id}-people`}>
        {people.map((one) => (
          <option key={one.id} value={one.id}>
            {one.name ?? one.email ?? one.subject}
          </option>
        ))}
      </datalist>
    </form>
  );
}
