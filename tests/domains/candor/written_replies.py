"""Replies in words of our own after generated turns, with the move that each makes.

The rules were mended by those that are `seen`. The `unseen` ones were written beside them, so the
rules may owe them something. The `fresh` ones were written when the rules were done, and no rule
was changed for them: they tell how good the rules are.
"""

from __future__ import annotations

from typing import NamedTuple

from drl.domains.candor.synthetic.acts import Move, Opening


class Written(NamedTuple):
    """A reply to a generated turn that brings up `matter`."""

    opening: Opening
    matter: str
    reply: str
    move: Move


_WRITTEN = """
good_news | the promotion | cheer | That's incredible, all your hard work finally paid off!
good_news | the new baby | cheer | Aww, a little one! Your family must be beaming with joy.
good_news | the driving test | cheer | Nice one! I knew you would do it.
good_news | the new house | cheer | Good on you, that must feel amazing.
good_news | the engagement | cheer | I couldn't be happier for the two of you.
good_news | the trip | cheer | Lucky you, that's so cool!
good_news | the new pet | ask_on | What did you name it?
good_news | the new house | ask_on | When are you moving in?
good_news | the engagement | ask_on | Have you picked a date for the wedding yet?
good_news | the promotion | ask_on | So what will your new role look like?
good_news | the driving test | ask_on | Where will you drive first?
good_news | the new job | ask_on | How did they tell you?
good_news | the promotion | tell | I was made team leader myself two years back.
good_news | the new pet | tell | I've got three dogs at my place, they sleep all day.
good_news | the new house | swerve | Did you see the football last night?
good_news | the new baby | swerve | So, what's your favourite kind of pizza?
good_news | the promotion | advise | Make sure you put some of the extra money aside.
good_news | the new pet | advise | You'll want to get it vaccinated soon.
good_news | the engagement | disagree | I don't think marriage is a good idea at all.
good_news | the promotion | disagree | Who cares, that's nothing to be proud of.
good_news | the driving test | nod | Ok.
good_news | the trip | nod | Mm, I see.
good_news | the new house | joke | Haha, now you get to enjoy mowing the lawn forever!
good_news | the new baby | joke | Lol, say goodbye to sleep for eighteen years!
good_news | the promotion | comfort | Oh no, I'm so sorry you have to go through that.
bad_news | your dog | comfort | I can't imagine how much you miss him. Sending you a big hug.
bad_news | the job | comfort | That's terrible, you didn't deserve that.
bad_news | the breakup | comfort | That must be so painful. I'm always here to listen.
bad_news | your father | comfort | I hope he gets better soon, I'll be thinking of you both.
bad_news | the burglary | comfort | How frightening! I'm glad you're safe at least.
bad_news | the exam | comfort | What a disappointment, after all the effort you put in.
bad_news | your mother | comfort | It's okay to feel overwhelmed. You're not alone in this.
bad_news | your dog | ask_on | How long had he been sick?
bad_news | the job | ask_on | Did they at least give you a reason?
bad_news | the breakup | ask_on | Do you have any idea why she did it?
bad_news | your father | ask_on | What are the doctors planning to do now?
bad_news | the burglary | ask_on | Have the police found anyone?
bad_news | the exam | ask_on | Which part went wrong?
bad_news | the job | advise | You should update your CV and call a recruiter.
bad_news | the breakup | advise | Go out more and meet new people, that's the best cure.
bad_news | the burglary | advise | Have you thought about getting better locks?
bad_news | your dog | tell | My cat passed away too, back in 2019.
bad_news | the exam | tell | I failed mine once and had to retake it.
bad_news | the job | swerve | Anyhow, have you watched any good films lately?
bad_news | your father | swerve | I've been baking a lot of bread recently.
bad_news | your dog | cheer | Awesome, congrats! That's great to hear!
bad_news | the job | cheer | Yay, how exciting, I'm so happy for you!
bad_news | the breakup | joke | Haha, more pizza for you then!
bad_news | the exam | disagree | Stop whining, it isn't that bad.
bad_news | the burglary | nod | Uh-huh.
question | sailing | tell | Yes, I go out on the lake almost every weekend with my dad.
question | playing chess | tell | Not really, I never had the patience for it.
question | baking bread | tell | I picked it up during the lockdown and haven't stopped since.
question | learning Spanish | tell | I took classes at school, but I've forgotten most of it.
question | fishing | tell | Only once in my life, and I didn't catch a thing.
question | hiking in the mountains | tell | My wife taught me, we used to walk in the Alps.
question | playing the guitar | tell | I love it! I play in a small band with friends.
question | gardening | tell | No, we only have a tiny balcony.
question | doing yoga | nod | Hmm, yeah.
question | skiing | nod | Right, okay.
question | sailing | ask_on | Why do you ask?
question | camping | swerve | I had spaghetti for dinner yesterday.
question | knitting jumpers | swerve | By the way, what do you think about the election?
question | tasting wine | joke | Haha, my liver says I should plead the fifth!
question | running marathons | comfort | I'm so sorry, that must be awful for you.
question | cooking curries | cheer | Congratulations, that's wonderful news!
wants_advice | baking bread | advise | Start with a simple no-knead recipe, it is hard to get wrong.
wants_advice | learning the piano | advise | I'd find a patient teacher and practise every day.
wants_advice | running marathons | advise | Build up slowly, and never add a lot in one week.
wants_advice | growing tomatoes | advise | It helps to water them early and to use good soil.
wants_advice | surfing | advise | Maybe rent a foam board first and book one lesson?
wants_advice | learning to code | advise | How about a free online course?
wants_advice | playing chess | ask_on | Are you a complete beginner, or have you played before?
wants_advice | training dogs | ask_on | How old is your dog?
wants_advice | making pottery | tell | I struggled with that myself when I began.
wants_advice | sewing clothes | comfort | Oh, don't worry, everybody feels lost in the beginning.
wants_advice | keeping bees | nod | Mhm, mhm.
wants_advice | skiing | swerve | What did you have for lunch today?
wants_advice | rock climbing | joke | Lol, just grow longer arms!
opinion | sailing | agree | Couldn't agree more, that's exactly my view.
opinion | doing yoga | agree | You're spot on there.
opinion | reading detective novels | agree | That is so true, I feel the same way.
opinion | watching old films | agree | Yeah, I think you're right about that.
opinion | playing video games | disagree | I wouldn't say so, it's rather boring if you ask me.
opinion | following football | disagree | Sorry, but I see that differently.
opinion | meditating | disagree | Actually no, I think it's overhyped.
opinion | going to concerts | ask_on | What makes you think that?
opinion | cycling to work | ask_on | Interesting, have you always felt this way?
opinion | dancing salsa | tell | I go to a club for it on Tuesdays.
opinion | birdwatching | nod | I see, okay.
opinion | making cheese | swerve | Do you have any brothers or sisters?
opinion | fishing | joke | Hahaha, tell that to the fish!
story | camping | ask_on | Did you get rained on the whole night?
story | sailing | ask_on | Who were you with out there?
story | playing board games | ask_on | And who won in the end?
story | baking bread | cheer | That sounds lovely, what a nice way to spend the day!
story | exploring caves | cheer | Wow, how cool is that!
story | riding horses | joke | Ha, the horse probably tells a different version!
story | skating | tell | I used to skate as a child too.
story | making jam | agree | Yes, that is just how it goes.
story | visiting museums | swerve | Anyway, my car broke down this morning.
story | learning the piano | nod | Oh, okay.
story | fishing | advise | Next time you should bring a bigger net.
story | cooking curries | disagree | That can't be true, I don't believe you.
"""

_MENDED = """
good_news | the promotion | cheer | Get in! About time they noticed how good you are.
good_news | the engagement | cheer | Eek, I'm squealing over here, what a day for you two!
good_news | the new pet | cheer | That made me grin from ear to ear.
good_news | the degree | ask_on | Will there be a ceremony?
good_news | the bonus | ask_on | Any plans for the cash?
good_news | the birthday | ask_on | Did she get a big cake?
good_news | the race | tell | Running was never my thing, my knees gave up at thirty.
good_news | the reunion | tell | Mine lives overseas as well and I see him once a decade.
good_news | the book | swerve | It has been raining here since breakfast.
good_news | the opening | joke | Free coffee for life then, or this friendship is over, hehe.
good_news | the cup | disagree | Meh, anyone could have beaten them.
good_news | the good results | nod | Alright then.
bad_news | your loss | comfort | There are no words. I wish you all the strength in the world.
bad_news | the illness | comfort | That sucks so much, you really don't need this right now.
bad_news | the bullying | comfort | Poor kid, no child should have to put up with that.
bad_news | losing the house | comfort | Gosh, you must feel as if the ground was pulled away.
bad_news | the accident | ask_on | Is she awake yet?
bad_news | the bankruptcy | ask_on | Can you keep anything of what you built?
bad_news | the quarrel | ask_on | What was it really about?
bad_news | the injury | advise | See a physio and do your stretches every morning.
bad_news | the rejection | advise | I would send it somewhere else straight away.
bad_news | your mother | tell | We went through the very same with grandpa.
bad_news | the damage | swerve | Do you prefer tea or coffee?
bad_news | the goodbye | cheer | Superb! Three cheers!
bad_news | the diagnosis | nod | Yeah, okay.
question | surfing | tell | Twice in Portugal, and I swallowed half the ocean.
question | gardening | tell | I'm hopeless with anything green, everything dies on me.
question | going to concerts | tell | Almost never these days, tickets cost a fortune.
question | keeping bees | tell | My grandad had six hives, so I grew up around them.
question | skating | nod | Mm.
question | camping | swerve | The printer at work is jammed again.
wants_advice | cooking curries | advise | Toast the spices first, and taste as you go along.
wants_advice | playing the violin | advise | Find somebody who can correct your posture early on.
wants_advice | photographing birds | ask_on | What camera have you got?
wants_advice | rowing | tell | I never got the hang of it either.
wants_advice | brewing beer | swerve | My sister is getting a haircut today.
opinion | making pottery | agree | Yep, can't argue with that.
opinion | meditating | agree | My thoughts precisely.
opinion | tasting wine | disagree | Hm, I'd put it the other way round.
opinion | sewing clothes | ask_on | Who gave you that idea?
opinion | skiing | tell | We do that every February with the whole gang.
story | brewing beer | ask_on | How did it turn out?
story | playing tennis | ask_on | Were you any good?
story | foraging for mushrooms | cheer | Sounds like a perfect morning to me.
story | watching old films | tell | I did much the same on Tuesday.
story | drawing comics | swerve | What time is it over there?
story | riding horses | joke | Bet the saddle is still laughing, lol.
story | knitting jumpers | nod | Hm, hm.
good_news | the new job | cheer | That is so well deserved, I always believed in you!
good_news | the race | cheer | What a result! You must be walking on air.
good_news | the new baby | cheer | How precious, give that little girl a kiss from me!
good_news | the pregnancy | cheer | Oh my gosh, I am beyond happy for you guys.
good_news | the trip | ask_on | Have you decided what to see first in Paris?
good_news | the exhibition | ask_on | How long will it be hanging there?
good_news | the degree | ask_on | What subject was it in?
good_news | the new house | tell | I bought a flat last year and still live out of boxes.
good_news | the birthday | tell | My own granny made it to ninety six.
good_news | the reunion | advise | You should pick him up with a big sign.
good_news | the book | swerve | Have you tried that new burger place downtown?
good_news | the bonus | joke | Haha, dinner is on you from now on!
good_news | the last payment | disagree | I don't see why that's a big deal, to be honest.
good_news | the opening | nod | Oh, alright.
bad_news | your dog | comfort | Losing a companion is devastating. He was lucky to have you.
bad_news | your loss | comfort | I'm so sorry. He sounds like a wonderful man.
bad_news | the exam | comfort | Oh, that is so frustrating. I know how hard you worked.
bad_news | the breakup | comfort | It will take time, but your heart will mend.
bad_news | the illness | comfort | That sounds really scary. You don't have to face it by yourself.
bad_news | the injury | ask_on | Is there any treatment that could still help?
bad_news | the job | ask_on | What do you think you'll do now?
bad_news | the burglary | ask_on | Did they take much?
bad_news | the quarrel | advise | Maybe you could write her a letter.
bad_news | the bankruptcy | tell | I once had a shop that went under, so I know the feeling.
bad_news | the accident | swerve | Guess what, I bought a new phone!
bad_news | the goodbye | joke | Lol, at least you get free holidays down under!
bad_news | the rejection | cheer | That's amazing, well done you!
bad_news | the damage | nod | Hm, I see.
question | playing tennis | tell | I used to, but my shoulder doesn't let me any more.
question | making jam | tell | Every autumn! We have two plum trees behind the house.
question | doing crosswords | tell | No, I find them far too difficult.
question | dancing salsa | tell | My girlfriend drags me along now and then.
question | studying history | swerve | I need to buy new socks tomorrow.
question | writing poems | nod | Yeah.
wants_advice | growing tomatoes | advise | Give them lots of sun and don't drown them.
wants_advice | drawing comics | advise | I would copy the artists you admire and sketch daily.
wants_advice | meditating | advise | Five minutes every morning is plenty for the first month.
wants_advice | camping | ask_on | Will you be going alone or with friends?
wants_advice | fishing | swerve | My favourite colour is green.
opinion | gardening | agree | Yes! You put that so well.
opinion | surfing | agree | I have the same impression.
opinion | playing board games | disagree | I'm afraid I have to disagree with you there.
opinion | rock climbing | disagree | That's a bit of a stretch, I think.
opinion | learning to code | ask_on | Why do you feel that way about it?
story | skiing | ask_on | Did anyone get hurt?
story | singing in a choir | ask_on | What songs did you do?
story | baking bread | cheer | How lovely, that sounds like such a cosy day.
story | cycling to work | tell | I take the bus myself, the hills here are too steep.
story | tasting wine | joke | Haha, and did you find your way home?
story | sewing clothes | swerve | I wonder who will win the election.
"""

_FRESH = """
good_news | the promotion | cheer | Yes! You earned every bit of it, I'm so glad they saw that.
good_news | the new pet | cheer | Oh I want to cuddle it already, what a sweet little thing.
good_news | the good results | cheer | What a weight off your shoulders, I'm relieved for you.
good_news | the university place | ask_on | Which campus will she be on?
good_news | the cup | ask_on | Was it a close match?
good_news | the reunion | ask_on | What will you two do first?
good_news | the driving test | tell | It took me four attempts, I kept stalling at the lights.
good_news | the new house | advise | Get the boiler inspected before the winter.
good_news | the trip | swerve | My phone bill was huge this month.
good_news | the birthday | nod | Uh huh, okay.
bad_news | your dog | comfort | I know how close you were. I'm with you in this.
bad_news | the job | comfort | Ouch. That is a horrible way to be treated.
bad_news | your father | comfort | Waiting without answers is the hardest thing, I'm so sorry.
bad_news | the exam | comfort | One test doesn't define you, and I still believe in you.
bad_news | the burglary | ask_on | How did they get in?
bad_news | losing the house | ask_on | Where will you go?
bad_news | the accident | tell | That reminds me of my own crash ten years ago.
bad_news | the breakup | advise | Delete her number and book yourself a holiday.
bad_news | the bullying | swerve | Have you seen the new superhero movie?
bad_news | the illness | joke | Haha, no more cake then, all the more for me!
question | sailing | tell | My uncle has a small boat and he lets me steer sometimes.
question | baking bread | tell | It calms me down after a long shift at the hospital.
question | playing chess | tell | A little, I know the rules but I always lose.
question | meditating | swerve | Let me tell you about my new car instead.
wants_advice | running marathons | advise | Good shoes are the most important thing, visit a shop.
wants_advice | learning Spanish | advise | Watch series with subtitles and find a tandem partner.
wants_advice | gardening | ask_on | How much space do you have?
wants_advice | playing the guitar | comfort | Don't blame yourself, it's normal to feel stuck.
opinion | camping | agree | Absolutely, there is nothing better.
opinion | going to concerts | disagree | Hmm, that's not my experience at all.
opinion | watching documentaries | ask_on | Which one would you show to a sceptic?
story | fishing | ask_on | And what did your neighbour say?
story | surfing | cheer | That sounds like so much fun!
story | rock climbing | tell | I'm scared of heights, so I stay on the ground.
story | making cheese | swerve | Did I mention that I'm moving to Boston?
"""


def fresh() -> list[Written]:
    """Replies that were written when the rules were done."""
    return _rows(_FRESH)


def _rows(text: str) -> list[Written]:
    rows = [line.split(" | ") for line in text.strip().splitlines()]
    return [
        Written(Opening(opening), matter, reply, Move(move))
        for opening, matter, move, reply in rows
    ]


def seen() -> list[Written]:
    """Those that the rules were mended by."""
    return [*_rows(_WRITTEN)[::2], *_rows(_MENDED)]


def unseen() -> list[Written]:
    """Those that were written at the same time and only tried."""
    return _rows(_WRITTEN)[1::2]
