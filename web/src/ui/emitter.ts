export class Emitter<Events> {
  private readonly listeners = new Map<keyof Events, ((value: never) => void)[]>();

  on<Name extends keyof Events>(name: Name, listener: (value: Events[Name]) => void): void {
    const list = this.listeners.get(name) ?? [];
    list.push(listener);
    this.listeners.set(name, list);
  }

  protected emit<Name extends keyof Events>(name: Name, value: Events[Name]): void {
    for (const listener of this.listeners.get(name) ?? []) (listener as (value: Events[Name]) => void)(value);
  }
}
