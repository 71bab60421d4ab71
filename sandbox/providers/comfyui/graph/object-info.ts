import { CLASSES } from './classes.ts';
import type { InputType, NodeClass } from './classes.ts';

/** What GET /object_info reports of the node classes. */

/** The name of an input's type, as links are checked against it. */
export function typeName(type: InputType): string {
  if (type === 'ANY') return '*';
  if (type === 'STRING') return type;
  if (type === 'FILE') return 'COMBO';
  if ('link' in type) return type.link;
  return 'list' in type ? 'COMBO' : type.number;
}

/** An input's type and options. */
export function toInputConfig(type: InputType): readonly unknown[] {
  if (type === 'FILE') return [[], { image_upload: true }];
  if (type === 'STRING') return ['STRING', {}];
  if (typeof type === 'string' || 'link' in type) return [typeName(type), {}];
  if ('list' in type) return [type.list, {}];
  return [type.number, { default: Math.max(type.min, 0), min: type.min, max: type.max }];
}

/** A list without the files that are not there. */
export function without(type: InputType, lacking: ReadonlySet<string>): InputType {
  if (typeof type === 'string' || !('list' in type)) return type;
  return { list: type.list.filter((value) => !lacking.has(value)) };
}

/** All classes, or one; an unknown one gives an empty object. */
export function objectInfo(lacking: ReadonlySet<string>, name?: string): object {
  const wanted = Object.entries(CLASSES).filter(
    ([one]) => !lacking.has(one) && (name === undefined || one === name),
  );
  return Object.fromEntries(wanted.map(([one, found]) => [one, classInfo(one, found, lacking)]));
}

function classInfo(
  name: string,
  { inputs, outputs, isOutput = false }: NodeClass,
  lacking: ReadonlySet<string>,
): object {
  const required = Object.fromEntries(
    Object.entries(inputs).map(([input, type]) => [input, toInputConfig(without(type, lacking))]),
  );
  return {
    input: { required },
    input_order: { required: Object.keys(inputs) },
    output: outputs,
    output_is_list: outputs.map(() => false),
    output_name: outputs,
    name,
    display_name: name,
    description: '',
    python_module: 'nodes',
    category: 'sandbox',
    output_node: isOutput,
  };
}
