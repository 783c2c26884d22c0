using System;
using System.Collections.Generic;
using System.Linq;

namespace Time.Keeping
{
    /// <summary>Tells the time.</summary>
    [Serializable]
    public class Clock
    {
        private readonly List<int> ticks = new();

        public int Hour
        {
            get { return ticks.Last(); }
        }

        public Clock(int start)
        {
            ticks.Add(start);
        }

        public void Tick() => ticks.Add(Hour + 1);
    }

    public enum Zone
    {
        Utc,
        Local,
    }
}
