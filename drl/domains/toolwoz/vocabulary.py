"""How people name the things that ToolWOZ is about: areas, prices, days, cuisines, stations.

Common knowledge in both directions, shared by whoever reads or writes such text. Each table maps
a value, spelt as the tools spell it, to other ways of saying it; the spelling itself always counts.
Forms are written as `drl.domains.toolwoz.comprehension.tokens` splits text: lower case, no
apostrophes, no hyphens.
"""

from collections.abc import Mapping
from typing import Final

Forms = Mapping[str, tuple[str, ...]]

DOMAINS: Final = ("hotel", "attraction", "train", "restaurant")

AREAS: Final[Forms] = {
    "centre": ("city centre", "town centre", "downtown", "central", "middle of town"),
    "north": ("northern", "north side"),
    "south": ("southern", "south side"),
    "east": ("eastern", "east side"),
    "west": ("western", "west side"),
}

PRICE_RANGES: Final[Forms] = {
    "cheap": (
        "inexpensive",
        "cheaper",
        "cheaply",
        "cheaply priced",
        "low cost",
        "low priced",
        "budget",
    ),
    "moderate": (
        *("moderately", "moderately priced", "mid range", "mid priced", "medium priced"),
        *("reasonably priced", "average priced"),
    ),
    "expensive": (
        "expensively",
        "expensively priced",
        "upscale",
        "high end",
        "pricey",
        "upmarket",
        "fancy",
        "luxury",
    ),
}

DAYS: Final[Forms] = {
    "monday": ("mondays",),
    "tuesday": ("tuesdays", "tues"),
    "wednesday": ("wednesdays",),
    "thursday": ("thursdays", "thurs"),
    "friday": ("fridays",),
    "saturday": ("saturdays",),
    "sunday": ("sundays",),
}

STATIONS: Final[Forms] = {
    "birmingham new street": ("birmingham",),
    "bishops stortford": ("bishop stortford", "stortford"),
    "broxbourne": (),
    "cambridge": (),
    "ely": (),
    "kings lynn": ("lynn",),
    "leicester": (),
    "london kings cross": ("kings cross", "london kings"),
    "london liverpool street": ("liverpool street", "london liverpool"),
    "norwich": (),
    "peterborough": (),
    "stansted airport": ("stansted",),
    "stevenage": (),
}

HOTEL_TYPES: Final[Forms] = {
    "guesthouse": ("guest house", "guest houses", "b and b"),
    # The bare word names the domain; only these say that a guesthouse will not do.
    "hotel": (
        *("type hotel", "type of hotel", "hotel type", "actual hotel", "proper hotel"),
        *("regular hotel", "real hotel", "be a hotel", "is a hotel", "as a hotel"),
        *("hotel rather", "hotel not a guest house", "hotel style"),
    ),
}

ATTRACTION_TYPES: Final[Forms] = {
    "architecture": ("architectural", "architecture attraction", "buildings"),
    "boat": ("boats", "boating", "boat ride", "boat trip", "punting"),
    "cinema": ("cinemas", "movie theatre", "movies"),
    "college": ("colleges",),
    "concerthall": ("concert hall", "concert halls", "concert"),
    "entertainment": ("entertainments",),
    "museum": ("museums", "gallery", "galleries"),
    "mutliple sports": ("multiple sports", "sports", "several sports", "sports venue"),
    "nightclub": ("night club", "nightclubs", "night clubs", "clubs"),
    "park": ("parks",),
    "swimmingpool": ("swimming pool", "swimming pools", "swimming", "pool", "pools"),
    "theatre": ("theatres",),
}

_CUISINES: Final = (
    "afghan, african, afternoon tea, american, arabic, asian, asian oriental, australasian, "
    "australian, austrian, barbeque, basque, belgian, bistro, brazilian, british, burmese, "
    "canapes, cantonese, caribbean, catalan, chinese, christmas, corsica, creative, creole, "
    "crossover, cuban, danish, dutch, eastern european, egyptian, english, eritrean, ethiopian, "
    "european, filipino, finnish, french, fusion, gastropub, georgian, german, greek, halal, "
    "hungarian, indian, indonesian, international, iranian, irish, israeli, italian, jamaican, "
    "japanese, korean, kosher, latin american, lebanese, light bites, malaysian, mediterranean, "
    "mexican, middle eastern, modern american, modern eclectic, modern european, modern global, "
    "molecular gastronomy, moroccan, nepalese, new zealand, north african, north american, "
    "north indian, northern european, norwegian, pakistani, panasian, persian, peruvian, polish, "
    "polynesian, portuguese, romanian, russian, scandinavian, scottish, seafood, sichuan, "
    "singaporean, south african, south american, south indian, spanish, sri lankan, steakhouse, "
    "swedish, swiss, syrian, taiwanese, thai, the americas, traditional, turkish, tuscan, "
    "ukrainian, unusual, vegan, vegetarian, venetian, vietnamese, welsh, world"
)
CUISINES: Final[Forms] = {
    **dict.fromkeys(_CUISINES.split(", "), ()),
    "asian oriental": ("oriental",),
    "gastropub": ("gastro pub", "pub food"),
    "seafood": ("sea food", "fish"),
    "barbeque": ("barbecue", "bbq"),
    "north american": ("burgers",),
}

AMENITIES: Final[Forms] = {
    "internet": ("free internet", "wifi", "free wifi", "wi fi", "internet access"),
    "parking": ("free parking", "car park", "parking space"),
}

DOMAIN_WORDS: Final[Forms] = {
    "hotel": (
        *("hotels", "place to stay", "places to stay", "somewhere to stay", "accommodation"),
        *("accommodations", "lodging", "room", "rooms", "place to sleep", "bed for the night"),
    ),
    "attraction": (
        *("attractions", "places to go", "place to go", "place to visit", "places to visit"),
        *("somewhere to go", "things to do", "something to do", "things to see", "sightseeing"),
        *("something to see", "tourist", "place to see", "places to see", "sights", "day out"),
        *("somewhere to visit",),
    ),
    "train": ("trains", "train ticket", "train tickets", "by rail", "rail", "railway"),
    "restaurant": (
        *("restaurants", "place to eat", "places to eat", "somewhere to eat", "eat", "dinner"),
        *("place to dine", "somewhere to dine", "dining", "lunch", "supper", "table", "meal"),
        *("dine", "places to dine"),
    ),
}

SLOT_WORDS: Final[Forms] = {
    "area": (
        *("areas", "part of town", "part of the city", "side of town", "location", "whereabouts"),
        *("which part", "what part"),
    ),
    "pricerange": (
        *("price range", "price ranges", "price bracket", "budget", "prices", "price level"),
        *("how expensive", "pricing"),
    ),
    "food": (
        *("cuisine", "cuisines", "type of food", "kind of food", "sort of food", "like to eat"),
        *("kind of cuisine", "type of cuisine", "they serve"),
    ),
    "type": (
        *("kind of attraction", "types", "kind of place", "sort of place", "kind of hotel"),
        *("hotel or a guest house", "guest house or a hotel", "hotel or guest house"),
        *("guest house or hotel", "sort of attraction", "kinds", "kind of thing", "category"),
        *("attraction type", "type of attraction"),
    ),
    "stars": ("star", "star rating", "how many stars", "number of stars", "rating"),
    "internet": AMENITIES["internet"],
    "parking": AMENITIES["parking"],
    "departure": (
        *("departing from", "leaving from", "leave from", "depart from", "travelling from"),
        *("traveling from", "coming from", "departure station", "where from", "from where"),
        *("setting off from", "departure point", "starting from", "start from"),
    ),
    "destination": (
        *("going to", "travelling to", "traveling to", "travel to", "go to", "heading to"),
        *("where to", "to where", "arrival station", "heading for", "headed"),
    ),
    "day": ("days", "which day", "what day", "day of the week"),
    "leaveAt": (
        *("departure time", "leave at", "leave after", "leaving time", "time does it leave"),
        *("time it leaves", "leaving", "leave", "leaves", "depart", "departs", "set off"),
        *("time does it depart", "time to leave", "time of departure"),
    ),
    "arriveBy": (
        *("arrival time", "arrive by", "arrive", "arrives", "arrival", "time does it arrive"),
        *("time it arrives", "get there", "gets there", "time of arrival", "get in", "gets in"),
        *("arriving",),
    ),
    "people": (
        *("how many people", "number of people", "how many guests", "how many tickets", "guests"),
        *("party size", "how many seats", "size of your party", "how many of you", "many people"),
        *("number of guests", "how many", "tickets", "party"),
    ),
    "stay": (
        *("nights", "how many nights", "how long will you", "length of stay", "number of nights"),
        *("how long are you", "how long would you", "how long do you", "many nights"),
        *("length of your stay",),
    ),
    "time": ("what time", "which time", "at what time", "time of day", "times"),
    "name": ("names", "particular place", "specific place", "called"),
    "phone": ("phone number", "telephone", "telephone number", "contact number", "number to call"),
    "address": ("addresses", "where is it", "where exactly"),
    "postcode": ("post code", "postal code", "zip code", "zip"),
    "entrance fee": (
        *("entrance fees", "entry fee", "admission", "admission fee", "entrance", "fee", "fees"),
        *("cost to get in", "entrance cost", "charge for entry", "entrance charge"),
    ),
    "price": (
        *("cost", "costs", "ticket price", "how much", "fare", "price of", "fares"),
        *("price of the ticket",),
    ),
    "duration": (
        *("travel time", "how long does it take", "journey time", "how long is the journey"),
        *("how long is the trip", "how long is the ride", "length of the journey"),
        *("how long does the journey", "how long the journey", "how long it takes"),
        *("how long will the journey", "how long the trip", "how long does the trip"),
    ),
    "trainID": ("train id", "the id", "its id", "train number", "train ids", "number of the train"),
    "reference": (
        *("reference number", "booking reference", "confirmation number", "ref number"),
        *("booking number", "confirmation code", "reference code"),
    ),
}

_NUMBERS: Final = "zero one two three four five six seven eight nine ten eleven twelve"
NUMBERS: Final = {word: str(number) for number, word in enumerate(_NUMBERS.split())}


def word_set(text: str) -> frozenset[str]:
    """The words of a text, for tables that would otherwise fill pages."""
    return frozenset(text.split())
