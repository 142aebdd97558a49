package keys

// Joined is the hint of a key that the footer shows together with the next one, under the next hint.
const Joined = "&"

// timelineBindings returns the bindings of the Timeline screen.
func timelineBindings() []Binding {
	return []Binding{
		{BackOne, InTimeline, []string{"h", "left"}, Joined, "the cursor a column back"},
		{OnOne, InTimeline, []string{"l", "right"}, "cursor", "the cursor a column on"},
		{LastChange, InTimeline | InReplay, []string{"["}, Joined, "to the change of this row before"},
		{NextChange, InTimeline | InReplay, []string{"]"}, "change", "to the next change of this row"},
		{LastOfAny, InTimeline, []string{"{"}, Joined, "to the change of any lane before"},
		{NextOfAny, InTimeline, []string{"}"}, "any change", "to the next change of any lane"},
		{ZoomIn, InTimeline, []string{"+", "="}, Joined, "shorter columns, around the cursor"},
		{ZoomOut, InTimeline, []string{"-"}, "zoom", "longer columns, around the cursor"},
		{EarlierPage, InTimeline, []string{"H"}, Joined, "a page back"},
		{LaterPage, InTimeline, []string{"L"}, "page", "a page on"},
		{ToNow, InTimeline, []string{"0"}, "now", "to the present, and follow it"},
		{Follow, InTimeline, []string{"f"}, "follow", "move the window with the time, or not"},
		{Window, InTimeline, []string{"w"}, "window", "how much time is shown: a menu"},
		{OnlyChanged, InTimeline, []string{"!"}, "changed", "only lanes that changed in the window, or all"},
		{SortLanes, InTimeline, []string{"s"}, "sort", "order the lanes: a menu"},
		{Legend, InTimeline, []string{"tab", "shift+tab"}, "", "the legend, or as many lanes as there is room for"},
		{Note, InTimeline, []string{"M"}, "note", "write a note, which stands on the timelines at the cursor, elsewhere at this moment"},
		{At, InCommand | InReplay, []string{":at TIME"}, "jump", "all screens as it was at a time: 12:31, yesterday 22:00, 15m ago; on the Timeline its cursor"},
		{WindowOf, InCommand, []string{":window LENGTH"}, "", "how much time the Timeline shows: 15m, 1h, 7d"},
		{NoteText, InCommand, []string{":note TEXT"}, "", "a note, which stands on the timelines at the cursor, elsewhere at this moment"},
		{"window-1m", InWindow, []string{"1"}, "1 min", "show a minute"},
		{"window-5m", InWindow, []string{"2"}, "5 min", "show five minutes"},
		{"window-15m", InWindow, []string{"3"}, "15 min", "show fifteen minutes"},
		{"window-1h", InWindow, []string{"4"}, "1 h", "show an hour"},
		{"window-6h", InWindow, []string{"5"}, "6 h", "show six hours"},
		{"window-24h", InWindow, []string{"6"}, "1 d", "show a day"},
		{"window-168h", InWindow, []string{"7"}, "7 d", "show a week"},
		{"window-720h", InWindow, []string{"8"}, "30 d", "show thirty days"},
		{"lanes-as-list", InLaneSort, []string{"l"}, "as the list", "in the order of the list"},
		{"lanes-by-changes", InLaneSort, []string{"c"}, "changes", "most changes in the window first"},
		{"lanes-by-gaps", InLaneSort, []string{"g"}, "time without a leader", "those that nobody led for longest first"},
	}
}
