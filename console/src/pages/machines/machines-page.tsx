import { useQuery } from '@apollo/client/react';

import { useCaller } from '../../api/caller.ts';
import { MachinesDocument } from '../../api/documents/machines.ts';
import { AdministratorsOnly } from '../../parts/administrators-only.tsx';
import { Page, PageTop } from '../../parts/looks/panels.tsx';
import { PageHeading } from '../../parts/page/page-heading.tsx';
import { Empty, Problem } from '../../parts/problem.tsx';
import { t } from '../../text/text.ts';
import { MachineCard } from './machine-card.tsx';

/** Milliseconds between looks at the machines. */
const EVERY_MS = 5_000;

/** The ComfyUI machines: what each does and has, and giving it no new work. */
export function MachinesPage() {
  const caller = useCaller();
  return (
    <>
      <PageTop>
        <PageHeading>{t('page.machines')}</PageHeading>
      </PageTop>
      <Page>
        {caller?.mayAdministrate === true && <Machines />}
        {caller?.mayAdministrate === false && <AdministratorsOnly />}
      </Page>
    </>
  );
}

function Machines() {
  const { data, error } = useQuery(MachinesDocument, {
    pollInterval: EVERY_MS,
    skipPollAttempt: () => document.hidden,
  });
  if (error !== undefined && data === undefined) return <Problem error={error} />;
  if (data === undefined) return <p className="text-faint">{t('machines.asking')}</p>;
  if (data.comfyServers.length === 0) {
    return <Empty title={t('machines.none')} text={t('machines.noneText')} />;
  }
  return (
    <>
      {error !== undefined && <Problem error={error} />}
      {data.comfyServers.map((machine) => (
        <MachineCard key={`${machine.binding} ${machine.address}`} machine={machine} />
      ))}
    </>
  );
}
