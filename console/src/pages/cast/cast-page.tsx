import { useNavigate } from '@tanstack/react-router';

import { MemberImage, nameMember, type CastKind, type Member, useCast } from '../../library/cast.tsx';
import { MoreButton } from '../../parts/buttons.tsx';
import { Icon } from '../../parts/icons.tsx';
import { Button } from '../../parts/looks/button.tsx';
import { Figures, Small } from '../../parts/looks/lines.tsx';
import { cardLook, Page, PageTop, Skeleton } from '../../parts/looks/panels.tsx';
import { PageHeading } from '../../parts/page/page-heading.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Ago } from '../../parts/time.tsx';
import { t } from '../../text/text.ts';
import { readDraft, setDraft } from '../../work/keeper.ts';
import type { WorkKind } from '../../work/kinds.ts';
import { findTab } from '../../work/work.ts';

/** The sections of the page: who is made by which kind of work, and where they appear next. */
const SECTIONS = [
  { kind: 'CHARACTER', next: 'CHARACTER_IMAGE', member: 'characterId' },
  { kind: 'AVATAR', next: 'AVATAR_VIDEO', member: 'digitalId' },
  { kind: 'AVATAR_SOURCE', next: 'AVATAR', member: 'videoId' },
  { kind: 'VOICE_CLONE', next: 'SPEECH', member: 'voiceId' },
] as const satisfies readonly { kind: CastKind; next: WorkKind; member: string }[];

/** Everybody who can appear or speak in new work, by image and sample. */
export function CastPage() {
  const { members, isLoading, more, error } = useCast();
  return (
    <>
      <PageTop>
        <PageHeading>{t('page.cast')}</PageHeading>
      </PageTop>
      <Page>
        {error !== undefined && <Problem error={error} />}
        {isLoading && <Skeleton className="h-80" aria-busy="true" />}
        {!isLoading &&
          SECTIONS.map((section) => (
            <CastSection
              key={section.kind}
              section={section}
              members={members.filter(({ kind }) => kind === section.kind)}
            />
          ))}
        <MoreButton isLoading={isLoading} onMore={more} />
      </Page>
    </>
  );
}

interface SectionProps {
  readonly section: (typeof SECTIONS)[number];
  readonly members: readonly Member[];
}

function CastSection({ section: { kind, next, member }, members }: SectionProps) {
  const navigate = useNavigate();
  const go = (to: WorkKind, values: Readonly<Record<string, unknown>>) => {
    const tab = findTab(to);
    setDraft(tab, { key: to, values: { ...readDraft(tab)?.values, ...values } });
    void navigate({ to: '/', search: { kind: tab } });
  };
  return (
    <section className="gap-3 flex flex-col min-w-0" aria-label={t(`cast.${kind}`)}>
      <header className="flex items-center gap-2 min-w-0">
        <h2 className="font-semibold">{t(`cast.${kind}`)}</h2>
        <Figures tone="muted" small>
          {members.length}
        </Figures>
        <Button size="small" className="ml-auto" onClick={() => go(kind, {})}>
          <Icon name="plus" size={14} />
          {t(`cast.new.${kind}`)}
        </Button>
      </header>
      {members.length === 0 && <p className="text-muted">{t(`cast.none.${kind}`)}</p>}
      <ul className="grid grid-cols-[repeat(auto-fill,minmax(200px,1fr))] gap-4 [&_audio]:w-full">
        {members.map((one) => (
          <li key={one.id} className={`${cardLook} overflow-hidden`}>
            <div className="grid place-items-center aspect-[4/3] overflow-hidden bg-sunken text-muted">
              <MemberImage member={one} />
            </div>
            <div className="gap-2 p-4 flex flex-col min-w-0">
              <span className="truncate font-medium min-w-0">{nameMember(one)}</span>
              <Small>
                <Ago at={one.createdAt} />
              </Small>
              {one.media?.contentType.startsWith('audio/') === true && (
                <audio src={one.media.url} aria-label={t('cast.sample')} controls preload="none" />
              )}
              <Button size="small" onClick={() => go(next, { [member]: one.id })}>
                <Icon name="input" size={14} />
                {t(`cast.use.${kind}`)}
              </Button>
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
