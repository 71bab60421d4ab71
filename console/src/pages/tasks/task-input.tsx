import { graphqlUrl } from '../../api/addresses.ts';
import { useCaller } from '../../api/caller.ts';
import { useModels } from '../../api/shared-queries.ts';
import { CodeTabs } from '../../parts/code-tabs.tsx';
import { FactName, FactList, FactValue } from '../../parts/facts.tsx';
import { Row } from '../../parts/looks/lines.tsx';
import { Card, CardHead } from '../../parts/looks/panels.tsx';
import { t, textOr } from '../../text/text.ts';
import { optionRows } from '../../work/options/fields.ts';
import { keyOption, statusUrl, writePrograms } from '../../work/program.ts';
import { findRecalledChoice, recallTask } from '../../work/recall.ts';
import type { TaskLog } from './timeline/segments.ts';

/** Longer values are folded. */
const SHORT = 40;

/** What the task was asked for: its words, its files, every setting. */
export function TaskInput({ input }: { readonly input: TaskLog['input'] }) {
  if (input === null) return null;
  const { options, ...typed } = input.options as Readonly<Record<string, unknown>>;
  const settings = [...Object.entries(typed), ...optionRows(options)].filter(
    // The words of speech are its prompt too.
    ([, value]) => value !== input.prompt,
  );
  return (
    <Card>
      <CardHead title={t('task.input')} />
      <div className="p-4 gap-3 flex flex-col min-w-0">
        {input.prompt !== null && <p className="wrap-anywhere text-14 font-normal">{input.prompt}</p>}
        {input.files.map(({ input: name, media, url }) => (
          <Row key={`${name} ${media?.id ?? url}`}>
            {media?.thumbnail && (
              <img
                className="w-9 h-9 rounded-small object-cover bg-media flex-none grid place-items-center text-faint"
                src={media.thumbnail}
                alt=""
              />
            )}
            <span className="gap-0 flex flex-col min-w-0">
              <span className="font-medium">{textOr(`field.${name}`, name)}</span>
              {media === null ? (
                <span className="wrap-anywhere font-mono text-12 font-normal">{url}</span>
              ) : (
                <a
                  className="wrap-anywhere link text-12 font-normal"
                  href={media.url}
                  target="_blank"
                  rel="noreferrer"
                >
                  {media.name}
                </a>
              )}
            </span>
          </Row>
        ))}
        {settings.length > 0 && (
          <FactList>
            {settings.map(([name, value]) => (
              <div key={name} className="contents">
                <FactName>{textOr(`field.${name}`, textOr(`option.${name}`, name))}</FactName>
                <FactValue className="font-mono [font-size:12px]">
                  {typeof value === 'object' && value !== null ? <Folded value={value} /> : String(value)}
                </FactValue>
              </div>
            ))}
          </FactList>
        )}
      </div>
    </Card>
  );
}

/** A list or an object, such as a whole workflow: one line until it is opened. */
function Folded({ value }: { readonly value: object }) {
  const text = JSON.stringify(value);
  if (text.length <= SHORT) return text;
  return (
    <details>
      <summary className="truncate min-w-0">{text.slice(0, SHORT)}…</summary>
      <pre className="m-4 max-h-80 overflow-auto text-left wrap-anywhere whitespace-pre-wrap">
        {JSON.stringify(value, null, 2)}
      </pre>
    </details>
  );
}

/** How a program starts the same and follows this task, to copy. */
export function SameRequest({ task }: { readonly task: TaskLog }) {
  const { models = [] } = useModels().data ?? {};
  const needsKey = useCaller()?.kind !== 'ANONYMOUS';
  const recalled = recallTask(task);
  const choice = findRecalledChoice(recalled, models);
  if (choice === undefined || recalled === null) {
    return <CodeTabs key="follow" title={t('task.follow')} codes={following(task.id, needsKey)} />;
  }
  return (
    <>
      <CodeTabs title={t('task.sameIn')} codes={writePrograms(choice, recalled.draft.values, needsKey)} />
      <CodeTabs key="follow" title={t('task.follow')} codes={following(task.id, needsKey)} />
    </>
  );
}

function following(id: string, needsKey: boolean): Readonly<Record<string, string>> {
  const query = `{ task(id: "${id}") { state progress outputs { url } error { code message } } }`;
  const status = statusUrl(id);
  const key = keyOption(needsKey);
  return {
    GraphQL: `subscription {
  taskProgress(id: "${id}") {
    seq
    stage
    progress
    task { state outputs { url } error { code message } }
  }
}`,
    REST: `GET ${status}`,
    curl: `curl -s ${graphqlUrl} ${key}-H 'content-type: application/json' \\\n  -d '${JSON.stringify({ query })}'\n\ncurl -s ${key}${status}`,
  };
}
