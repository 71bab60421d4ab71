import { useMutation, useQuery } from '@apollo/client/react';

import {
  EndUserSessionsDocument,
  PeopleDocument,
  type PersonPartsFragment,
  PersonSessionsDocument,
} from '../../api/operations.ts';
import { Modal } from '../../parts/controls/modal.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Ago } from '../../parts/time.tsx';
import { t, textOr } from '../../text/text.ts';
import { nameOf } from './person.ts';

interface PersonSessionsProps {
  readonly person: PersonPartsFragment;
  readonly onClose: () => void;
}

/** Where somebody is signed in, newest first; each session is ended alone, or all at once. */
export function PersonSessions({ person, onClose }: PersonSessionsProps) {
  const userId = person.id;
  const { data, error } = useQuery(PersonSessionsDocument, {
    variables: { userId },
    fetchPolicy: 'cache-and-network',
  });
  const [end, ended] = useMutation(EndUserSessionsDocument, {
    refetchQueries: [PersonSessionsDocument, PeopleDocument],
    awaitRefetchQueries: true,
  });
  const sessions = data?.userSessions ?? [];
  const endAll = () => {
    if (!window.confirm(t('people.sure', { name: nameOf(person) }))) return;
    end({ variables: { userId } }).then(onClose, () => undefined);
  };
  const problem = error ?? ended.error;
  return (
    <Modal
      title={t('people.sessionsOf', { name: nameOf(person) })}
      onClose={onClose}
      foot={
        <button
          type="button"
          className="btn bad"
          disabled={ended.loading || sessions.length === 0}
          onClick={endAll}
        >
          {t('people.end')}
        </button>
      }
    >
      {problem !== undefined && <Problem error={problem} />}
      {data !== undefined && sessions.length === 0 && <p className="mute">{t('people.noSessions')}</p>}
      <ul className="session-list" aria-label={t('keys.sessions')}>
        {sessions.map(({ id, platform, createdAt, lastUsedAt, current }) => (
          <li key={id} className="row">
            <span className="grow col gap-0">
              <span className="row">
                {textOr(`platform.${platform}`, platform)}{' '}
                {current && <span className="tag">{t('keys.current')}</span>}
              </span>
              <span className="c12 mute">
                {t('people.began')} <Ago at={createdAt} />
                {lastUsedAt !== null && (
                  <>
                    {' · '}
                    {t('people.renewed')} <Ago at={lastUsedAt} />
                  </>
                )}
              </span>
            </span>
            <button
              type="button"
              className="btn sm bad"
              disabled={ended.loading}
              onClick={() => void end({ variables: { userId, sessionId: id } }).catch(() => undefined)}
            >
              {t('keys.end')}
            </button>
          </li>
        ))}
      </ul>
    </Modal>
  );
}
